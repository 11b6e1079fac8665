"""A point that was picked, and what can be done with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from service.contract.wire.answers.answer import Answer, SentConfig, SentMetrics, SentSpec
from service.contract.wire.events import TrialState, Where
from service.contract.wording.chosen_split import Chooser

PickedBy = Literal["knee", "weights", "constraint", "gap"]


@dataclass(slots=True, kw_only=True)
class PickRule(Answer):
    """A rule by which a point can be picked."""

    name: Annotated[PickedBy, Field(description="as it is asked for")]
    words: Annotated[str, Field(description="as readers are offered it: a point is picked by …")]


PICK_RULES = (
    PickRule(name="knee", words="knee"),
    PickRule(name="weights", words="weights"),
    PickRule(name="constraint", words="bounds"),
    PickRule(name="gap", words="largest gap"),
)


@dataclass(slots=True, kw_only=True)
class PickAnswer(Answer):
    """One trial, or one point of a trial's curve, and why it."""

    by: Annotated[PickedBy, Field(description="the rule that chose it")]
    why: Annotated[str, Field(description="in a sentence, with what it was chosen from")]
    trial: Annotated[str, Field(description="its id")]
    arm: Annotated[str, Field(description="whose trial it is")]
    seed: Annotated[int, Field(description="with which it was trained")]
    where: Annotated[
        Where | None, Field(description="on its trial's curve, as {beta: 0.01}; null where the trial is a single point")
    ]
    state: Annotated[TrialState, Field(description="a trial that is still running may move")]
    config: Annotated[SentConfig, Field(description="its settings, as weighting.beta")]
    metrics: Annotated[SentMetrics, Field(description="what was measured there last")]
    selection: Annotated[
        Chooser | None, Field(description="the split whose values chose it; null where none is measured on a split")
    ]
    candidates: Annotated[int, Field(description="points that it was chosen from")]
    checkpoint: Annotated[
        str | None, Field(description="where its trained weights are; null where the study keeps none, or not yet")
    ]
    spec: Annotated[SentSpec, Field(description="a study of this configuration alone, with all seeds")]
    yaml: Annotated[str, Field(description="the same as YAML, to submit")]
