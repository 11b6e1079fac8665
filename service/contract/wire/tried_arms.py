"""What a process that tries a study tells of its arms, a line of JSON each, and in the end why it could not go on."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter

from service.contract.wire.events import Metrics, cleaned, sendable

Words = Annotated[str, BeforeValidator(sendable)]
Finite = Annotated[Metrics, AfterValidator(cleaned)]


class Outcome(BaseModel):
    """What an arm would do. In numbers too where it took a step, a script only of its first report."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    words: Words
    stacks: bool | None = Field(None, description="whether its members train together")
    apart: float | None = Field(None, description="members together from the first alone, in units of its size")
    losses: Finite | None = Field(None, description="of the first member's step, by term")
    weights: Finite | None = Field(None, description="of the first member's step, by term")
    first_metrics: Finite | None = Field(None, description="measured after it, of few examples")
    settings: int | None = Field(None, description="of problem, model and training, that were tried")
    took: float | None = Field(None, description="in seconds")


class ArmBegins(BaseModel):
    """An arm is tried from now on: where the process ends without another word, it was this one."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    says: Literal["begins"] = "begins"
    arm: str


class ArmTried(BaseModel):
    """An arm that would train."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    says: Literal["tried"] = "tried"
    arm: str
    trials: int = Field(description="that it has in the study")
    outcome: Outcome


class StudyRefused(BaseModel):
    """Something is wrong with the study, and nothing is told after it."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    says: Literal["refused"] = "refused"
    reason: Words


Told = ArmBegins | ArmTried | StudyRefused
_TOLD: TypeAdapter[Told] = TypeAdapter(Annotated[Told, Field(discriminator="says")])


def line_of(told: Told) -> bytes:
    return told.model_dump_json().encode() + b"\n"


def told_in(lines: bytes) -> list[Told]:
    return [_TOLD.validate_json(line) for line in lines.splitlines()]
