"""The front of a study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from service.contract.metrics import Goal
from service.contract.wire.answers.answer import Answer
from service.contract.wire.events import TrialState, Where
from service.contract.wording.chosen_split import Chooser


@dataclass(slots=True, kw_only=True)
class FrontPoint(Answer):
    """A trial that no other dominates; of a trial with many points, one of them."""

    trial: Annotated[str, Field(description="its id")]
    arm: Annotated[str, Field(description="whose trial it is")]
    x: Annotated[float, Field(description="its value of the first metric")]
    y: Annotated[float, Field(description="its value of the second metric")]
    where: Annotated[
        Where | None, Field(description="on its trial's curve, as {beta: 0.01}; null where the trial is a single point")
    ]
    state: Annotated[TrialState, Field(description="a trial that is still running may move")]


@dataclass(slots=True, kw_only=True)
class ArmFront(Answer):
    """The front of one arm by itself."""

    name: Annotated[str, Field(description="the arm's")]
    hypervolume: Annotated[
        float | None,
        Field(
            description="of the points below, of its trials of all seeds together; in the comparison that is "
            "hypervolume.all_seeds; null where a metric has no reference"
        ),
    ]
    hypervolume_mean: Annotated[
        float | None,
        Field(
            description="mean over seeds of what each seed's trials have by themselves: the study's hypervolume of "
            "the arm, hypervolume.mean in the comparison; null before a seed has one"
        ),
    ]
    points: Annotated[
        list[FrontPoint], Field(description="its points that none of its others dominates, along the first metric")
    ]


@dataclass(slots=True, kw_only=True)
class FrontAnswer(Answer):
    """The front over all arms, and each arm's own."""

    x: Annotated[str, Field(description="the first metric")]
    y: Annotated[str, Field(description="the second metric")]
    goals: Annotated[list[Goal], Field(description="which way is better, of x and of y")]
    selection: Annotated[
        Chooser | None,
        Field(
            description="the split whose values chose the points; shown: the very values that are shown, of a script "
            "of your own; null where none is measured on a split"
        ),
    ]
    reference_point: Annotated[
        list[float | None], Field(description="where the hypervolume is measured from; null: unbounded")
    ]
    hypervolume: Annotated[
        float | None,
        Field(description="of the trials of all arms and seeds together; null where a metric has no reference"),
    ]
    points: Annotated[list[FrontPoint], Field(description="those that no other dominates, along the first metric")]
    arms: Annotated[list[ArmFront], Field(description="in the order of the spec")]
