"""Studies: a row of the list, and one with its spec and figures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from service.contract.metrics import Bound, Goal, Kind
from service.contract.wire.answers.answer import Answer, SentSpec, Time
from service.contract.wire.answers.figures import OfferedFigure
from service.contract.wire.events import StudyState


@dataclass(slots=True, kw_only=True)
class TrialCounts(Answer):
    """How many trials are in which state."""

    planned: Annotated[int, Field(description="all trials of the study or arm")]
    running: Annotated[int, Field(description="under way")]
    finished: Annotated[int, Field(description="trained to their end")]
    failed: Annotated[int, Field(description="ended with a reason")]
    stopped: Annotated[int, Field(description="by the study's `stopping`, or still under way when the study ended")]
    collapsed: Annotated[int, Field(description="finished ones, or ended with their arm, whose code carries nothing")]
    infeasible: Annotated[
        int,
        Field(
            exclude_if=lambda count: count == 0,
            description="such ones besides, that break a constraint of the study; only where there are any",
        ),
    ] = 0


@dataclass(slots=True, kw_only=True)
class ArmLook(Answer):
    """An arm's name and how the figures draw it."""

    name: Annotated[str, Field(description="as in the spec")]
    colour: Annotated[str, Field(description="as #rrggbb")]
    symbol: Annotated[str, Field(description="the name of Plotly's marker")]


@dataclass(slots=True, kw_only=True)
class ArmSummary(ArmLook):
    """How far an arm is."""

    counts: Annotated[TrialCounts, Field(description="of its trials")]
    progress: Annotated[float, Field(ge=0, le=1, description="share of its work that is done")]
    hypervolume: Annotated[
        float | None,
        Field(description="of its trials so far, in the study's objectives, mean over seeds; null before a result"),
    ]


@dataclass(slots=True, kw_only=True)
class StudySummary(Answer):
    """A study as lists show it."""

    id: Annotated[str, Field(description="as in its address")]
    name: Annotated[str, Field(description="as in the spec, or as people call it since")]
    state: Annotated[StudyState, Field(description="its current state")]
    created_at: Annotated[Time, Field(description="when it was submitted, UTC")]
    started_at: Annotated[Time | None, Field(description="when its first driver was started, UTC; null before that")]
    ended_at: Annotated[Time | None, Field(description="when it ended, UTC; null before that")]
    reason: Annotated[str | None, Field(description="why it is in this state, where there is something to say")]
    interrupted: Annotated[
        str | None,
        Field(
            description="why nobody trains it though it runs: Ray is away, or its driver was started again and no "
            "trial has begun since; it goes on by itself. null otherwise"
        ),
    ]
    counts: Annotated[TrialCounts, Field(description="of all its trials")]
    progress: Annotated[float, Field(ge=0, le=1, description="share of its work that is done")]
    eta_seconds: Annotated[
        float | None, Field(description="time left if it goes on as it did; null unless it runs and has reported")
    ]
    arms: Annotated[list[ArmSummary], Field(description="in the order of the spec")]
    spark: Annotated[
        list[float], Field(description="hypervolume of all arms and seeds together as trials ended, in a few steps")
    ]
    last_seq: Annotated[int, Field(description="number of the last event in this answer")]
    flattered: Annotated[
        str | None,
        Field(
            exclude_if=lambda why: why is None,
            description="where its hypervolumes are of trials that were chosen by what is shown of them: which, in "
            "words; only then",
        ),
    ] = None
    running_since: Annotated[
        Time | None,
        Field(description="when it was last started after a pause or an end, UTC; null while none drives it"),
    ] = None
    ran_seconds: Annotated[
        float,
        Field(ge=0, description="how long it ran until then, in all; pauses and what followed an end not counted"),
    ] = 0.0
    data: Annotated[str, Field(description="the name of its data set; empty where it cannot be read")] = ""
    tags: Annotated[list[str], Field(description="that people gave it")] = field(default_factory=list)
    pinned: Annotated[bool, Field(description="whether it is marked as pinned")] = False
    archived: Annotated[bool, Field(description="whether lists leave it out unless they are asked")] = False
    excerpt: Annotated[str, Field(description="the beginning of its notes, on one line")] = ""
    unreadable: Annotated[
        str | None,
        Field(
            exclude_if=lambda why: why is None,
            description="why this version cannot read it; only then, and counts and arms are then empty",
        ),
    ] = None
    lost_events: Annotated[
        int,
        Field(
            exclude_if=lambda count: count == 0,
            description="events that its log once had and lost, as to a damaged disk; only where there are any",
        ),
    ] = 0


@dataclass(slots=True, kw_only=True)
class StateAnswer(Answer):
    """Where a study is, and nothing else."""

    state: Annotated[StudyState, Field(description="its current state")]
    leave: Annotated[
        bool, Field(description="whether trial processes save their states and leave: it is paused, or Ray ends now")
    ]
    last_seq: Annotated[int, Field(description="the number of its last event: whether anything has happened")]


@dataclass(slots=True, kw_only=True)
class StudyList(Answer):
    """A page of the list of studies."""

    studies: Annotated[list[StudySummary], Field(description="newest first")]
    next: Annotated[str | None, Field(description="what `after` takes for the next page; null on the last")]


@dataclass(slots=True, kw_only=True)
class MetricRow(Answer):
    """What a metric is."""

    name: Annotated[str, Field(description="as in reports")]
    label: Annotated[str, Field(description="its name for people")]
    unit: Annotated[str, Field(description="empty where it has none")]
    goal: Annotated[Goal, Field(description="which way is better")]
    reference: Annotated[float | None, Field(description="of the hypervolume; null: no front is measured by it")]
    doc: Annotated[str, Field(description="what it measures, in a sentence")]
    kind: Annotated[Kind, Field(description="what sort of quantity it is")]
    low: Annotated[float | None, Field(description="the least it can be; null: unbounded")]
    high: Annotated[float | None, Field(description="the most it can be; null: unbounded")]
    integer: Annotated[bool, Field(description="whether it is a whole number")]
    bound: Annotated[Bound | None, Field(description="how it relates to the quantity that it stands for")]
    error_of: Annotated[str | None, Field(description="the metric whose standard error this is")]
    calibrates: Annotated[str | None, Field(description="the metric whose estimator this tells about")]
    examples: Annotated[str | None, Field(description="the metric that counts the examples behind this one")]
    measured: Annotated[
        bool, Field(description="whether it is measured on the test split, and on the validation split if there is one")
    ]
    training_of: Annotated[
        str | None, Field(description="the metric of the test split that this is on the training split")
    ]
    validation_of: Annotated[
        str | None, Field(description="the metric of the test split that this is on the validation split")
    ]
    summarises: Annotated[str | None, Field(description="the family over whose members it is taken")]
    quantity: Annotated[
        str | None,
        Field(description="the term of which it is one of several views; `pred` also stands for the main task"),
    ]
    family: Annotated[str | None, Field(description="the family whose member it is, as robust_<attack>")]
    subject: Annotated[str | None, Field(description="what stands in the family's place: an attack, a task, a layer …")]


@dataclass(slots=True, kw_only=True)
class StudyAnswer(StudySummary):
    """A study with its spec."""

    spec: Annotated[SentSpec, Field(description="the study as it was submitted, defaults filled in")]
    metrics: Annotated[list[MetricRow], Field(description="what its trials report")]
    notes: Annotated[str, Field(description="what people wrote about it, in Markdown")] = ""
    limited_from: Annotated[
        Time | None,
        Field(description="from when `limits.seconds` counts, pauses left out, UTC; null where `running_since` is"),
    ] = None


@dataclass(slots=True, kw_only=True)
class StudyWithFigures(StudyAnswer):
    """A study with all that its page needs."""

    figures: Annotated[list[OfferedFigure], Field(description="those that it has something for")]
    curves: Annotated[bool, Field(description="whether some of its trials have many points, or will have")]
    queue_position: Annotated[
        int | None,
        Field(
            ge=1,
            exclude_if=lambda place: place is None,
            description="its place among the studies that wait; only while it waits",
        ),
    ] = None
    pausing: Annotated[
        bool,
        Field(
            exclude_if=lambda pausing: not pausing,
            description="whether trials of a paused study are still saving their state and leaving; only then",
        ),
    ] = False
