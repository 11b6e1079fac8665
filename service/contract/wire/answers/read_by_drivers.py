"""What drivers, and whoever trains elsewhere, read of the service's answers.

Fields that they do not need are passed over: they may be older or newer than the service that answers them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel

from service.contract.wire.events import Metrics, StudyState, TrialState


class KnownStudy(BaseModel):
    """Of a study; the spec is checked like any other."""

    spec: object
    started_at: datetime | None = None
    limited_from: datetime | None = None


class KnownState(BaseModel):
    """Of a study that is only asked for its state."""

    state: StudyState
    leave: bool
    last_seq: int = 0


class KnownTrial(BaseModel):
    """Of a trial."""

    id: str
    arm: str
    state: TrialState
    config: dict[str, object]
    metrics: Metrics
    reason: str | None = None
    started_at: datetime | None = None
    retries: int = 0
    extensions: int = 0
    stopped_after: int | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing of it is left to train."""
        return self.state.is_over() or self.stopped_after is not None


class KnownRefusal(BaseModel):
    """Of an event that the service did not take."""

    uid: str
    reason: str


class KnownBatch(BaseModel):
    """Of what became of a batch of events."""

    refusals: list[KnownRefusal] = []


class KnownWords(BaseModel):
    """Of an error: what it says."""

    message: str


class KnownError(BaseModel):
    """Of an answer that is one."""

    error: KnownWords


class KnownToken(BaseModel):
    """Of the token that a driver gets for its code."""

    token: str


class KnownCode(BaseModel):
    """Of code that is to be read: the file to import."""

    entry: str


class KnownHandedTrial(BaseModel):
    """Of a trial that this process is to train."""

    trial: str
    arm: str
    seed: int
    config: dict[str, Any]
    parameters: dict[str, Any]
    lease: str
    lease_seconds: float


class KnownTrials(BaseModel):
    """Of a page of trials; `next` is what `after` takes for the one that follows."""

    trials: list[KnownTrial]
    next: str | None = None
