"""Events: what drivers send, and the states they lead to. The append-only log of them is the truth."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Uid = Annotated[
    str,
    Field(min_length=1, max_length=200, description="unique in the study; sending it twice changes nothing"),
]
TrialId = Annotated[str, Field(min_length=1, max_length=64)]
Reason = Annotated[str, Field(max_length=4000)]
ConfigKey = Annotated[str, Field(max_length=100)]
LOG_LINES, LOG_LINE_LENGTH = 200, 500
Log = Annotated[
    list[Annotated[str, Field(max_length=LOG_LINE_LENGTH)]],
    Field(max_length=LOG_LINES, description="what the worker logged since the trial's last event"),
]


class StudyState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"

    def is_ended(self) -> bool:
        return self in (StudyState.FINISHED, StudyState.FAILED, StudyState.CANCELLED)


class TrialState(StrEnum):
    PLANNED = "planned"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    STOPPED = "stopped"


STATE_AFTER: dict[str, StudyState] = {
    "study_queued": StudyState.QUEUED,
    "study_started": StudyState.RUNNING,
    "study_paused": StudyState.PAUSED,
    "study_resumed": StudyState.RUNNING,
    "study_finished": StudyState.FINISHED,
    "study_failed": StudyState.FAILED,
    "study_cancelled": StudyState.CANCELLED,
}


class _Sent(BaseModel):
    model_config = ConfigDict(extra="forbid")
    uid: Uid


class StudyStarted(_Sent):
    kind: Literal["study_started"]


class TrialStarted(_Sent):
    kind: Literal["trial_started"]
    trial: TrialId
    host: Annotated[str, Field(max_length=200)] | None = None
    config: Annotated[dict[ConfigKey, bool | int | float | str], Field(max_length=100)] | None = Field(
        None, description="what a search suggested for this trial, as weighting.beta"
    )


class Report(_Sent):
    kind: Literal["report"]
    trial: TrialId
    metrics: Annotated[dict[Annotated[str, Field(max_length=100)], float | None], Field(max_length=500)]
    log: Log | None = None


class TrialFinished(_Sent):
    kind: Literal["trial_finished"]
    trial: TrialId
    log: Log | None = None


class TrialFailed(_Sent):
    kind: Literal["trial_failed"]
    trial: TrialId
    reason: Reason
    log: Log | None = None


class StudyFinished(_Sent):
    kind: Literal["study_finished"]
    reason: Reason | None = None


class StudyFailed(_Sent):
    kind: Literal["study_failed"]
    reason: Reason


SentEvent = Annotated[
    StudyStarted | TrialStarted | Report | TrialFinished | TrialFailed | StudyFinished | StudyFailed,
    Field(discriminator="kind"),
]


class Reports(BaseModel):
    """A batch of events from a driver."""

    model_config = ConfigDict(extra="forbid")
    events: Annotated[list[SentEvent], Field(max_length=5000)]


class Accepted(BaseModel):
    accepted: int
    duplicates: int
