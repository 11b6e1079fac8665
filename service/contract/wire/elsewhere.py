"""Asking for a trial that is trained elsewhere: what is asked, and what is handed out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from service.contract.wire.answers.answer import Answer, SentConfig
from service.contract.wire.events import LeaseSeconds
from service.contract.wording.plain_text import PlainText

DEFAULT_LEASE_SECONDS = 300.0
FREE = "free"  # the path of the detail of a refusal: whether there may be a trial later
Later = Literal["later", "never"]
NEVER: Later = "never"


class Ask(BaseModel):
    """A wish for a trial; nothing of it has to be said."""

    model_config = ConfigDict(extra="forbid", strict=True)
    arm: str | None = Field(None, max_length=80, description="only of this arm; none: of any that is trained elsewhere")
    lease_seconds: LeaseSeconds = Field(
        DEFAULT_LEASE_SECONDS,
        description="how long the asker may be silent: after that the trial is given to others. Every report renews it",
    )
    holder: Annotated[PlainText, Field(min_length=1, max_length=200)] | None = Field(
        None, description="who asks, as people will see it: a machine and a process; none: the token's name"
    )


@dataclass(slots=True, kw_only=True)
class HandedTrial(Answer):
    """A trial that whoever asked for it trains now, from the beginning."""

    trial: Annotated[str, Field(description="its id: in the address of a trial, and in every report of it")]
    arm: Annotated[str, Field(description="whose trial it is")]
    seed: Annotated[int, Field(description="one of the study's")]
    config: Annotated[SentConfig, Field(description="its settings, as problem.depth")]
    parameters: Annotated[SentConfig, Field(description="the values of the script's parameters, all of them, by name")]
    metrics: Annotated[list[str], Field(description="what it has to report; epoch and seconds may come besides")]
    lease: Annotated[str, Field(description="of this asker alone: every event of the trial carries it")]
    lease_seconds: Annotated[float, Field(description="how long its holder may be silent")]
