"""A study that was checked but not submitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from service.contract.wire.answers.answer import Answer, SentSpec, WrittenSpec
from service.contract.wire.answers.comparison import ObjectiveAxis
from service.contract.wire.answers.studies import ArmLook, MetricRow
from service.contract.wire.errors import Detail, ErrorBody


@dataclass(slots=True, kw_only=True)
class PlannedArm(ArmLook):
    """An arm that would run."""

    trials: Annotated[int, Field(description="how many it expands to")]


@dataclass(slots=True, kw_only=True)
class ArmEstimate(Answer):
    """What an arm will cost."""

    name: Annotated[str, Field(description="the arm's")]
    training_seconds: Annotated[
        float | None, Field(description="of all its trials; null where nothing like it has run")
    ]


@dataclass(slots=True, kw_only=True)
class CostEstimate(Answer):
    """What a study will cost, from what finished studies took."""

    training_seconds: Annotated[float | None, Field(description="of all trials; null where nothing like it has run")]
    wall_seconds: Annotated[float | None, Field(description="from start to end; null where that is not known")]
    basis: Annotated[str, Field(description="what the estimate stands on, in words")]
    arms: Annotated[list[ArmEstimate], Field(description="in the order of the spec")]


@dataclass(slots=True, kw_only=True)
class ValidStudy(Answer):
    """A study that would be taken."""

    valid: Annotated[Literal[True], Field(description="nothing is wrong with it")]
    trials: Annotated[int, Field(description="how many it expands to")]
    arms: Annotated[list[PlannedArm], Field(description="in the order of the spec")]
    metrics: Annotated[list[MetricRow], Field(description="what its trials would report")]
    objectives: Annotated[
        list[ObjectiveAxis], Field(description="as the spec has them; reference null: the metric's own")
    ]
    spec: Annotated[SentSpec | None, Field(description="what was written, before any default")]
    cost: Annotated[CostEstimate, Field(description="what it will cost")]
    warnings: Annotated[list[Detail], Field(description="what is allowed but hardly meant, each with its path")]


@dataclass(slots=True, kw_only=True)
class RefusedStudy(Answer):
    """A study that would be refused."""

    valid: Annotated[Literal[False], Field(description="a rule is broken")]
    error: Annotated[ErrorBody, Field(description="what a submission would be told")]
    spec: Annotated[WrittenSpec | None, Field(description="what was written; null when it cannot be read")]


CheckAnswer = ValidStudy | RefusedStudy
