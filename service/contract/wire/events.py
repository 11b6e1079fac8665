"""Events: all that can happen to a study and its trials, and the states they lead to.

Each kind is one class, on both sides of the wire and in the log: drivers and the service make instances, pydantic
checks them where they are written, and `event_of` turns a row of the log back into one. They are plain dataclasses
because a log of a hundred thousand is read back in seconds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from math import isfinite
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, with_config
from typing_extensions import TypedDict  # pydantic refuses that of typing before Python 3.12

from service.contract.methods.weightings import MOST_POINTS
from service.contract.metrics import EPOCH, metric
from service.contract.wire.answers.answer import Answer
from service.contract.wording.plain_text import LONGEST_WORD, PlainLines, PlainText, hidden_in, printable

STATE_HEADER = "Paretoscope-State"  # of the answer to a batch of events: a driver hears so of a pause
SINCE_HEADER = "Paretoscope-Since"  # of a batch: when its first event happened, in seconds since 1970
REASON_LENGTH = 4000
LOG_LINES, LOG_LINE_LENGTH = 200, 500

Metrics = dict[str, int | float | None]
Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]  # as much as the log can keep; what is larger is a float
Setting = bool | Whole | float | str
Named = TypeVar("Named", bound=Mapping[str, object])


def cleaned(metrics: Metrics) -> Metrics:
    """What is not finite becomes null, and counts are whole numbers also where somebody sends 3.0."""
    return {name: _clean(name, value) if isinstance(value, float) else value for name, value in metrics.items()}


def _clean(name: str, value: float) -> int | float | None:
    if not isfinite(value):
        return None
    row = metric(name)
    is_count = row is not None and row.integer and value.is_integer() and abs(value) < 2**53
    return int(value) if is_count else value


def sendable(text: str, length: int = REASON_LENGTH) -> str:
    """Short, and without the halves of characters that JSON in UTF-8 cannot carry."""
    return printable(text[:length]).encode(errors="replace").decode()


def named_plainly(named: Named) -> Named:
    """A map whose names, and texts, go into tables and terminals: one look for all of them."""
    texts = [*named, *(value for value in named.values() if isinstance(value, str))]
    if rule := hidden_in(" ".join(texts)):
        raise ValueError(f"a name or text in it {rule}")
    return named


def fit_for_tables(config: dict[str, Setting]) -> dict[str, Setting]:
    """Values that a search suggested: each is a cell of a table, and a number that JSON can say."""
    for name, value in config.items():
        if isinstance(value, str) and len(value) > LONGEST_WORD:
            raise ValueError(f"{name} has {len(value):,} characters, at most {LONGEST_WORD:,} are allowed")
        if isinstance(value, float) and not isfinite(value):
            raise ValueError(f"{name} must be a finite number, got {value}")
    return config


RESERVED = "service:"  # uids of events that the service makes itself
Uid = Annotated[
    PlainText,
    Field(min_length=1, max_length=200, description="unique in the study; sending it twice changes nothing"),
]
TrialId = Annotated[str, Field(min_length=1, max_length=64, description="a trial of the study")]
LeaseId = Annotated[
    PlainText, Field(min_length=1, max_length=64, description="of whoever trains the trial elsewhere; none: here")
]
LONGEST_LEASE_SECONDS = 604_800.0  # a week
LeaseSeconds = Annotated[
    float,
    Field(ge=1, le=LONGEST_LEASE_SECONDS, description="how long its holder may be silent before it is given to others"),
]
Reason = Annotated[
    str, Field(max_length=REASON_LENGTH, description="why, in words for people"), AfterValidator(printable)
]
Log = Annotated[
    list[Annotated[str, Field(max_length=LOG_LINE_LENGTH), AfterValidator(printable)]],
    Field(max_length=LOG_LINES, description="what the worker logged since the trial's last event"),
]
Reported = Annotated[
    dict[Annotated[str, Field(max_length=100)], Whole | float | None],
    Field(max_length=500, description="by name; null where a value is missing or not finite"),
    AfterValidator(named_plainly),
    AfterValidator(cleaned),
]
Where = Annotated[
    dict[Annotated[str, Field(max_length=100)], Annotated[float, Field(allow_inf_nan=False)]],
    Field(min_length=1, max_length=64, description="place on the curve, as {beta: 0.01} or a preference per term"),
    AfterValidator(named_plainly),
]


@with_config(ConfigDict(extra="forbid"))
class CurvePoint(TypedDict):
    """One of the many trade-offs of a trial that trains them all at once. A plain dict: logs hold very many of them."""

    where: Where
    metrics: Reported


Curve = Annotated[
    list[CurvePoint],
    Field(
        min_length=1,
        max_length=MOST_POINTS,
        description="what was measured at each place of its curve, by a trial that has many points; along the curve",
    ),
]
Suggested = Annotated[
    dict[Annotated[str, Field(max_length=100)], Setting],
    Field(max_length=100, description="what a search suggested for this trial, as weighting.beta"),
    AfterValidator(named_plainly),
    AfterValidator(fit_for_tables),
]


StudyName = Annotated[PlainText, Field(min_length=1, max_length=200, description="shown everywhere")]
Notes = Annotated[PlainLines, Field(max_length=20_000, description="what people wrote about it, in Markdown")]
Tags = Annotated[
    list[Annotated[PlainText, Field(min_length=1, max_length=50)]],
    Field(max_length=20, description="to find it by, all of them"),
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

    def is_over(self) -> bool:
        """Whether nothing is left to train: it came to an end of its own. One that was stopped may have: its event
        says so, and the end of its study does not."""
        return self in (TrialState.FINISHED, TrialState.FAILED)


def _kind_is_required(schema: dict[str, Any]) -> None:
    """A default for those who make events, but never left out on the wire: it tells the kinds apart."""
    schema["required"] = ["kind", *schema.get("required", [])]
    schema["properties"]["kind"]["description"] = "tells the kinds of events apart"


@dataclass(slots=True, kw_only=True)
class StudyEvent:
    """Something that happens to the study as a whole; it is in this state from then on."""

    __pydantic_config__: ClassVar = ConfigDict(
        extra="forbid", revalidate_instances="always", json_schema_extra=_kind_is_required
    )
    leads_to: ClassVar[StudyState]
    uid: Uid


@dataclass(slots=True, kw_only=True)
class TrialEvent:
    """Something that happens to one trial."""

    __pydantic_config__: ClassVar = StudyEvent.__pydantic_config__
    uid: Uid
    trial: TrialId
    arm: Annotated[str, Field(description="the trial's arm; the service fills it in")] | None = None


@dataclass(slots=True, kw_only=True)
class StudyQueued(StudyEvent):
    """The study was submitted."""

    leads_to: ClassVar = StudyState.QUEUED
    kind: Literal["study_queued"] = "study_queued"


@dataclass(slots=True, kw_only=True)
class StudyStarted(StudyEvent):
    """A driver was started; not the first one where `attempt` is above 1."""

    leads_to: ClassVar = StudyState.RUNNING
    job: Annotated[PlainText, Field(max_length=200, description="the driver's job on Ray")] | None = None
    attempt: Annotated[int, Field(ge=1, lt=2**31, description="how many drivers the study has had")] | None = None
    reason: Reason | None = None
    excused: (
        Annotated[bool, Field(description="whether the driver before it ended through no fault of the study's own")]
        | None
    ) = None
    kind: Literal["study_started"] = "study_started"


@dataclass(slots=True, kw_only=True)
class StudyInterrupted(StudyEvent):
    """Ray is away, and with it the driver as far as anybody can see; the study goes on by itself when Ray is back."""

    leads_to: ClassVar = StudyState.RUNNING
    reason: Reason
    kind: Literal["study_interrupted"] = "study_interrupted"


@dataclass(slots=True, kw_only=True)
class StudyReconnected(StudyEvent):
    """Ray is back, and the driver was there all the time."""

    leads_to: ClassVar = StudyState.RUNNING
    kind: Literal["study_reconnected"] = "study_reconnected"


@dataclass(slots=True, kw_only=True)
class StudyPaused(StudyEvent):
    """No new trials are started, and those in training save their state and leave."""

    leads_to: ClassVar = StudyState.PAUSED
    kind: Literal["study_paused"] = "study_paused"


@dataclass(slots=True, kw_only=True)
class StudyResumed(StudyEvent):
    """A paused or failed study goes on, as soon as a driver can be started."""

    leads_to: ClassVar = StudyState.RUNNING
    kind: Literal["study_resumed"] = "study_resumed"


Spared = Annotated[
    list[TrialId],
    Field(
        max_length=100_000,
        description="trials that were left and not needed; those not begun no longer count, unless the study goes on",
    ),
]
Again = Annotated[list[TrialId], Field(max_length=100_000, description="trials that are planned again")]


@dataclass(slots=True, kw_only=True)
class StudyRetried(StudyEvent):
    """Failed trials are trained once more, from the beginning."""

    leads_to: ClassVar = StudyState.RUNNING
    trials: Again
    wait_seconds: Annotated[float, Field(ge=0, description="before the next driver is started")] = 0.0
    kind: Literal["study_retried"] = "study_retried"


@dataclass(slots=True, kw_only=True)
class StudyExtended(StudyEvent):
    """It has more seeds, grid points or epochs from now on; what has finished stays, unless it has epochs to go."""

    leads_to: ClassVar = StudyState.RUNNING
    spec: Annotated[dict[str, Any], Field(description="the whole study as it is now")]
    version: Annotated[int, Field(ge=1, description="of the spec")]
    trials: Again
    anew: (
        Annotated[
            list[TrialId],
            Field(
                max_length=100_000,
                description="trials that begin anew, as their training depends on the number of epochs",
            ),
        ]
        | None
    ) = None
    kind: Literal["study_extended"] = "study_extended"


@dataclass(slots=True, kw_only=True)
class StudyFinished(StudyEvent):
    """Every trial has ended, or a limit was reached or a search needed no more: then `reason` says so."""

    leads_to: ClassVar = StudyState.FINISHED
    reason: Reason | None = None
    spared: Spared | None = None
    kind: Literal["study_finished"] = "study_finished"


@dataclass(slots=True, kw_only=True)
class StudyFailed(StudyEvent):
    """The study cannot go on."""

    leads_to: ClassVar = StudyState.FAILED
    reason: Reason
    kind: Literal["study_failed"] = "study_failed"


@dataclass(slots=True, kw_only=True)
class StudyCancelled(StudyEvent):
    """Somebody ended it; its results stay."""

    leads_to: ClassVar = StudyState.CANCELLED
    kind: Literal["study_cancelled"] = "study_cancelled"


@dataclass(slots=True, kw_only=True)
class TrialStarted(TrialEvent):
    """A worker has begun to train it."""

    host: Annotated[PlainText, Field(max_length=200, description="the worker's machine")] | None = None
    config: Suggested | None = None
    epoch: (
        Annotated[
            int,
            Field(ge=0, lt=2**31, description="of a start that is not its first: the epoch it goes on after, or 0"),
        ]
        | None
    ) = None
    kind: Literal["trial_started"] = "trial_started"


@dataclass(slots=True, kw_only=True)
class Report(TrialEvent):
    """What was measured after an epoch."""

    metrics: Reported
    points: Curve | None = None
    log: Log | None = None
    lease: LeaseId | None = None
    kind: Literal["report"] = "report"


@dataclass(slots=True, kw_only=True)
class TrialFinished(TrialEvent):
    """It was trained to its end. `reason` says which of its files could not be kept, where some could not."""

    reason: Reason | None = None
    log: Log | None = None
    lease: LeaseId | None = None
    kind: Literal["trial_finished"] = "trial_finished"


@dataclass(slots=True, kw_only=True)
class TrialFailed(TrialEvent):
    """It could not be trained to its end."""

    reason: Reason
    log: Log | None = None
    lease: LeaseId | None = None
    kind: Literal["trial_failed"] = "trial_failed"


@dataclass(slots=True, kw_only=True)
class TrialStopped(TrialEvent):
    """It was compared with the others of its arm after this epoch, and trains no further: the study's `stopping`."""

    epoch: Annotated[int, Field(ge=1, lt=2**31, description="the last one that it trained")]
    reason: Reason
    kind: Literal["trial_stopped"] = "trial_stopped"


@dataclass(slots=True, kw_only=True)
class TrialSuggested(TrialEvent):
    """A search has values for a trial that is trained elsewhere: from now on it can be asked for."""

    config: Suggested
    kind: Literal["trial_suggested"] = "trial_suggested"


@dataclass(slots=True, kw_only=True)
class TrialLeased(TrialEvent):
    """Somebody elsewhere asked for it and trains it from the beginning; what others had told of it no longer counts."""

    lease: LeaseId
    holder: Annotated[PlainText, Field(max_length=200, description="who asked for it")]
    seconds: LeaseSeconds
    token: Annotated[str, Field(max_length=16, description="the id of the token it was asked for with")] | None = None
    kind: Literal["trial_leased"] = "trial_leased"


@dataclass(slots=True, kw_only=True)
class TrialAlive(TrialEvent):
    """Its holder is at work and has nothing to report yet."""

    lease: LeaseId
    kind: Literal["trial_alive"] = "trial_alive"


@dataclass(slots=True, kw_only=True)
class TrialReturned(TrialEvent):
    """Others may ask for it again: its holder gave it back, or was silent for longer than its lease."""

    lease: LeaseId
    heard: (
        Annotated[
            int,
            Field(ge=0, lt=2**31, description="how often its holder had told something, when it was found silent"),
        ]
        | None
    ) = None
    reason: Reason | None = None
    kind: Literal["trial_returned"] = "trial_returned"


@dataclass(slots=True, kw_only=True)
class NoteEvent:
    """Something that people say of a study or a trial, in any state; it changes none. What is left out stays."""

    __pydantic_config__: ClassVar = StudyEvent.__pydantic_config__
    uid: Uid
    notes: Notes | None = None
    tags: Tags | None = None


@dataclass(slots=True, kw_only=True)
class StudyNoted(NoteEvent):
    """It has another name, other notes or tags, or another place in the list."""

    name: StudyName | None = None
    pinned: Annotated[bool, Field(description="whether it is marked as pinned")] | None = None
    archived: Annotated[bool, Field(description="whether lists leave it out unless they are asked")] | None = None
    kind: Literal["study_noted"] = "study_noted"


@dataclass(slots=True, kw_only=True)
class TrialNoted(NoteEvent):
    """A trial has other notes or tags."""

    trial: TrialId
    kind: Literal["trial_noted"] = "trial_noted"


OfTrials = TrialStarted | TrialSuggested | Report | TrialFinished | TrialFailed | TrialStopped
FromDriver = StudyStarted | OfTrials | StudyFinished | StudyFailed
FromHolder = TrialAlive | TrialReturned  # besides reports and ends
FromPeople = StudyQueued | StudyPaused | StudyResumed | StudyRetried | StudyExtended | StudyCancelled
FromReaders = StudyNoted | TrialNoted
Event = FromDriver | FromHolder | FromPeople | FromReaders | TrialLeased | StudyInterrupted | StudyReconnected


def _default(kind: type[Event], name: str) -> str:
    return str(next(each.default for each in fields(kind) if each.name == name))


KINDS: dict[str, type[Event]] = {_default(kind, "kind"): kind for kind in get_args(Event)}
_REPORT = _default(Report, "kind")
_BODY = {kind: [f.name for f in fields(kind) if f.name not in ("uid", "kind")] for kind in get_args(Event)}


def body_of(event: Event) -> dict[str, object]:
    """What an event says besides its uid and kind; what it leaves open is not in it."""
    said = ((name, getattr(event, name)) for name in _BODY[type(event)])
    return {name: value for name, value in said if value is not None}


def sent_batch(events: Sequence[Event], job: str | None = None) -> bytes:
    """Events as they travel: the body that `Reports` reads. ValueError for what JSON cannot say."""
    sent = {"events": [{"uid": event.uid, "kind": event.kind, **body_of(event)} for event in events]}
    return json.dumps(sent if job is None else {**sent, "job": job}, allow_nan=False).encode()


def event_of(uid: str, kind: str, body: dict[str, Any]) -> Event:
    """An event of the log, which was checked when it was written."""
    # Logs of 0.1.0 have whole numbers as floats. The epoch tells them apart: to look at each would slow all down.
    if kind == _REPORT and type(body["metrics"].get(EPOCH, 0.0)) is float:
        body["metrics"] = cleaned(body["metrics"])
    return KINDS[kind](uid=uid, **body)


class Reports(BaseModel):
    """A batch of events from a driver, or from whoever holds a trial."""

    model_config = ConfigDict(extra="forbid", defer_build=True)
    events: Annotated[
        list[Annotated[FromDriver | FromHolder, Field(discriminator="kind")]],
        Field(max_length=5000, description="in the order in which they happened"),
    ]
    job: Annotated[
        PlainText | None,
        Field(max_length=200, description="who sends them; a driver that was replaced is told so by a 409"),
    ] = None


@dataclass(slots=True, kw_only=True)
class RefusedEvent(Answer):
    """An event of a batch that was not taken."""

    uid: Annotated[str, Field(description="its own")]
    reason: Annotated[str, Field(description="the rule that it breaks, and the value that breaks it")]


@dataclass(slots=True, kw_only=True)
class Accepted(Answer):
    """What became of a batch."""

    accepted: Annotated[int, Field(description="events that were new")]
    duplicates: Annotated[int, Field(description="events that were known by their uid")]
    refused: Annotated[
        int,
        Field(exclude_if=lambda count: count == 0, description="events that may not follow; only where there are any"),
    ] = 0
    refusals: Annotated[
        list[RefusedEvent],
        Field(exclude_if=lambda each: not each, description="those, and why; they need not be sent again"),
    ] = field(default_factory=list)
