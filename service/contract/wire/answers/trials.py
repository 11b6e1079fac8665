"""Trials: rows of a table, and one with all that it reported."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field, WithJsonSchema

from service.contract.wire.answers.answer import DESCRIBED_BY, Answer, AsItIs, Intervals, SentConfig, SentMetrics, Time
from service.contract.wire.events import CurvePoint, TrialState, Where
from service.contract.wording.chosen_split import Chooser
from service.contract.wording.lights import LightName

# The schema of a point is the one that drivers send it by.
_CURVE = {"type": "array", "items": {DESCRIBED_BY: "CurvePoint"}}
_NUMBER = {"anyOf": [{"type": "integer"}, {"type": "number"}, {"type": "null"}]}
SentCurve = Annotated[list[CurvePoint], AsItIs(), WithJsonSchema(_CURVE)]
Selection = Annotated[
    Chooser | None,
    Field(
        description="the split whose values chose what is `on_front`; shown: the very values that are shown, of a "
        "script of your own; null where none is measured on a split"
    ),
]
SentReport = Annotated[
    dict[str, object],
    AsItIs(),
    WithJsonSchema(
        {
            "type": "object",
            "properties": {"points": {**_CURVE, "description": "the curve that came with this report, if one did"}},
            "additionalProperties": _NUMBER,
        }
    ),
]


@dataclass(slots=True, kw_only=True)
class MetricLight(Answer):
    """How far an estimate of I(X;Z) can be trusted: what its estimator misses where the information is known."""

    light: Annotated[LightName, Field(description="one of the catalog's lights")]
    words: Annotated[str, Field(description="its error on a Gaussian task of the same shape, in a sentence")]


@dataclass(slots=True, kw_only=True)
class FrontReading(Answer):
    """By how much a point is better than a front; below 0: worse. Between two neighbours the front is not known."""

    told: Annotated[
        float, Field(description="by the line where that is beaten, by the step where that is not reached, else 0")
    ]
    step: Annotated[
        float, Field(description="against what the baseline's trials dominate, the pessimistic reading of its front")
    ]
    line: Annotated[float, Field(description="against the straight lines between them, the optimistic one")]


@dataclass(slots=True, kw_only=True)
class PointAgainstFront(Answer):
    """A point of a trial against the baseline's front of its seed: of one seed, so without an interval or a test."""

    where: Annotated[
        Where | None, Field(description="on its trial's curve, as {beta: 0.01}; null where the trial is a single point")
    ]
    dominated: Annotated[bool, Field(description="the front is nowhere worse and somewhere better")]
    beyond: Annotated[
        bool | None,
        Field(
            description="better than all of the front in one objective, worse in the other; null unless they are two"
        ),
    ]
    distance: Annotated[
        FrontReading | None,
        Field(description="to the front, in units of the objectives' ranges; null beyond its reach"),
    ]
    matched: Annotated[
        dict[str, FrontReading],
        Field(description="by objective, in its unit, at the same value of the other; where the front has that value"),
    ]
    amounts_to: Annotated[
        dict[str, float], Field(description="settings of the baseline that land there; none beyond its reach")
    ]


@dataclass(slots=True, kw_only=True)
class TrialAgainstFront(Answer):
    """Where a trial lies against the baseline's front of its own seed."""

    baseline: Annotated[str, Field(description="the arm whose front it is")]
    points: Annotated[list[PointAgainstFront], Field(description="one, or those of its curve that carry something")]


@dataclass(slots=True, kw_only=True)
class TrialRow(Answer):
    """A trial as tables show it."""

    id: Annotated[str, Field(description="as in its address")]
    arm: Annotated[str, Field(description="whose trial it is")]
    seed: Annotated[int, Field(description="one of the study's")]
    state: Annotated[TrialState, Field(description="where the log has led it")]
    reason: Annotated[str | None, Field(description="why it failed or was stopped, or what is missing of it")]
    collapsed: Annotated[bool, Field(description="finished or ended with its arm, and its code carries nothing")]
    feasible: Annotated[
        bool | None,
        Field(
            description="it keeps the study's constraints, somewhere on its curve if it has one; null without "
            "constraints, and until it has reported what they ask for"
        ),
    ]
    on_front: Annotated[bool, Field(description="no other trial of the study dominates it")]
    verifies: Annotated[
        bool,
        Field(description="trained for one β alone, to check its arm's curve there; it counts for no front"),
    ]
    config: Annotated[SentConfig, Field(description="its settings, as weighting.beta")]
    metrics: Annotated[SentMetrics, Field(description="the last value of each metric; null where it was not finite")]
    places: Annotated[
        int,
        Field(description="how many points its curve has; 0 where the trial is a single point, told by its metrics"),
    ]
    intervals: Annotated[
        Intervals, Field(description="95 % intervals over test examples, of the metrics that have one")
    ]
    lights: Annotated[
        dict[str, MetricLight], Field(description="of the estimates of I(X;Z), by metric, at the end of training")
    ]
    training_seconds: Annotated[
        float | None, Field(description="what it has cost so far; null before its first report")
    ]
    started_at: Annotated[Time | None, Field(description="when a worker began, UTC; null before that")]
    ended_at: Annotated[Time | None, Field(description="when it ended, UTC; null before that")]
    host: Annotated[str | None, Field(description="the worker's machine")]
    retries: Annotated[int, Field(description="how often it was begun anew after it had failed")]
    extensions: Annotated[int, Field(description="how often it got more epochs after it had finished")]
    stopped_after: Annotated[
        int | None,
        Field(description="the epoch after which the study's `stopping` ended it; null for every other trial"),
    ]
    notes: Annotated[
        str, Field(exclude_if=lambda notes: not notes, description="what people wrote about it, in Markdown")
    ] = ""
    tags: Annotated[list[str], Field(exclude_if=lambda tags: not tags, description="that people gave it")] = field(
        default_factory=list
    )


@dataclass(slots=True, kw_only=True)
class TrialColumns(Answer):
    """The settings that a table of trials can show."""

    config: Annotated[list[str], Field(description="all settings of all trials")]
    varied: Annotated[list[str], Field(description="those that differ between trials of one arm")]


@dataclass(slots=True, kw_only=True)
class TrialPage(Answer):
    """A page of a study's trials."""

    trials: Annotated[list[TrialRow], Field(description="in the order of the spec, or in the order asked for")]
    next: Annotated[str | None, Field(description="what `after` takes for the next page; null on the last")]
    total: Annotated[int, Field(description="how many match, on all pages")]
    columns: Annotated[TrialColumns, Field(description="of all trials of the study, whichever were asked for")]
    selection: Selection


@dataclass(slots=True, kw_only=True)
class TrialWithReports(TrialRow):
    """A trial with everything that it reported."""

    reports: Annotated[
        list[SentReport],
        Field(description="one per epoch that was reported, oldest first; with points where it brought a curve"),
    ]
    points: Annotated[
        SentCurve,
        Field(description="its curve as it was measured last, along it; empty where the trial is a single point"),
    ]
    against_front: Annotated[
        TrialAgainstFront | None,
        Field(description="null for trials of the baseline, and for those that count for no front"),
    ]


@dataclass(slots=True, kw_only=True)
class TrialAnswer(TrialWithReports):
    """A trial with everything there is about it."""

    selection: Selection
    log: Annotated[list[str], Field(description="the last lines that its worker logged")]
    artifacts: Annotated[dict[str, int], Field(description="bytes of each file that it has: checkpoint, latent-map")]
