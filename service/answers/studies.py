"""What the API says about a study: from a view to the shapes of the contract."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from service.analysis import Point, hypervolume, nondominated
from service.analysis.candidates import chooser, chosen_axes, mean_hypervolumes, objectives, points_on
from service.contract.metrics import described
from service.contract.wire.answers.figures import OfferedFigure
from service.contract.wire.answers.front import ArmFront, FrontAnswer, FrontPoint
from service.contract.wire.answers.studies import (
    ArmSummary,
    MetricRow,
    StudyAnswer,
    StudySummary,
    StudyWithFigures,
    TrialCounts,
)
from service.contract.wording.chosen_split import flattery_words
from service.contract.wording.palette import arm_style
from service.views.clock import Clock
from service.views.selectors import counts, eta_seconds, has_curves, progress, time_left
from service.views.unreadable import UnreadableStudy
from service.views.view import View

SPARK_STEPS = 23
EXCERPT = 160  # characters
LINKS = re.compile(r"\[([^\]]+)\]\([^)\s]+\)")
MARKS = re.compile(r"^\s*(?:[#>]+|[-*]|\d+[.)])\s|[*`]+")  # of headings, quotes and lists, and of words that stand out


def spark(view: View) -> list[float]:
    """Hypervolume of all arms and seeds together after more and more trials have finished, a few steps of it."""
    axes = objectives(view)
    by_trial: dict[str, list[Point]] = {}
    for point in points_on(view, axes):
        by_trial.setdefault(point.trial, []).append(point)
    trials = [by_trial[trial] for trial in view.ended if trial in by_trial]
    steps = sorted({round(len(trials) * i / SPARK_STEPS) for i in range(SPARK_STEPS + 1)})
    volumes = [hypervolume([point for own in trials[:step] for point in own], axes) for step in steps]
    return [float(f"{volume:.4g}") for volume in volumes if volume is not None] if trials else []


def counts_answer(view: View, arm: str | None = None) -> TrialCounts:
    return TrialCounts(**counts(view, arm)._asdict())


def metric_rows(names: Iterable[str]) -> list[MetricRow]:
    return [MetricRow(**described(name)._asdict()) for name in names]


def _arms(view: View) -> list[ArmSummary]:
    volumes = mean_hypervolumes(view, objectives(view))
    styles = [arm_style(i) for i in range(len(view.study.arms))]
    return [
        ArmSummary(
            name=arm.name,
            colour=colour,
            symbol=symbol,
            counts=counts_answer(view, arm.name),
            progress=progress(view, arm.name),
            hypervolume=volumes[arm.name],
        )
        for arm, (colour, symbol) in zip(view.study.arms, styles, strict=True)
    ]


def study_summary(view: View) -> StudySummary:
    return StudySummary(
        id=view.id,
        name=view.study.name,
        state=view.state,
        created_at=view.created_at,
        started_at=view.started_at,
        ended_at=view.ended_at,
        reason=view.reason,
        interrupted=view.interrupted,
        running_since=view.clock.since,
        ran_seconds=round(view.clock.ran, 3),
        counts=view.memo("counts", lambda: counts_answer(view)),
        progress=progress(view),
        eta_seconds=eta_seconds(view),
        arms=view.memo("arms", lambda: _arms(view)),
        spark=view.memo("spark", lambda: spark(view)),
        last_seq=view.seq,
        flattered=flattery_words(chooser(view)) or None,
        data=view.study.data.name,
        tags=list(view.notes.tags),
        pinned=view.notes.pinned,
        archived=view.notes.archived,
        excerpt=excerpt(view.notes.text),
        lost_events=view.lost_events,
    )


def excerpt(notes: str) -> str:
    """The beginning of notes in Markdown, on one line, without their marks."""
    lines = (MARKS.sub("", LINKS.sub(r"\1", line)).strip() for line in notes.splitlines())
    words = " · ".join(line for line in lines if line)
    return words if len(words) <= EXCERPT else words[: EXCERPT - 1] + "…"


NONE = TrialCounts(planned=0, running=0, finished=0, failed=0, stopped=0, collapsed=0)


def unreadable_summary(study: UnreadableStudy) -> StudySummary:
    """A study that this version cannot read: in its state, with the reason, and with nothing else."""
    name = study.spec.get("name")
    return StudySummary(
        id=study.id,
        name=name if isinstance(name, str) else study.id,
        state=study.state,
        created_at=study.created_at,
        started_at=None,
        ended_at=None,
        reason=study.why,
        interrupted=None,
        counts=NONE,
        progress=0.0,
        eta_seconds=None,
        arms=[],
        spark=[],
        last_seq=0,
        unreadable=study.why,
        lost_events=study.lost_events,
    )


def unreadable_study(study: UnreadableStudy) -> StudyWithFigures:
    """With its spec as it is stored."""
    return StudyWithFigures(**unreadable_summary(study).fields(), spec=study.spec, metrics=[], figures=[], curves=False)


def up_to_now(summary: StudySummary, now: datetime) -> StudySummary:
    """A summary that was made earlier: without a new event, only the time left has changed."""
    left = time_left(Clock(summary.running_since, summary.ran_seconds), summary.progress, now)
    return replace(summary, eta_seconds=None if summary.interrupted else left)


def study_answer(view: View) -> StudyAnswer:
    summary = study_summary(view).fields()
    return StudyAnswer(
        **summary,
        spec=view.spec,
        metrics=metric_rows(view.study.metrics),
        notes=view.notes.text,
        limited_from=view.clock.limited_from,
    )


def study_with_figures(view: View, figures: list[OfferedFigure]) -> StudyWithFigures:
    return StudyWithFigures(**study_answer(view).fields(), figures=figures, curves=_has_curves(view))


def _has_curves(view: View) -> bool:
    """A weighting that is asked for points will bring them; a page makes room for them from the start."""
    asked = (getattr(arm.weighting, "points", 1) for arm in view.study.arms)
    return any(points > 1 for points in asked) or has_curves(view)


def _point(view: View, point: Point) -> FrontPoint:
    x, y = point.values
    state = view.trials[point.trial].state
    return FrontPoint(trial=point.trial, arm=point.arm, x=x, y=y, where=point.where, state=state)


def front_answer(view: View, x: str | None, y: str | None) -> FrontAnswer:
    axes = chosen_axes(view, x, y)
    points = points_on(view, axes)
    by_arm = {arm.name: [point for point in points if point.arm == arm.name] for arm in view.study.arms}
    fronts = {name: nondominated(own, axes) for name, own in by_arm.items()}
    means = mean_hypervolumes(view, axes)
    # A point on the front of all is also on its arm's own: it is made once and serves both.
    shown = {point.key: _point(view, point) for front in fronts.values() for point in front}
    return FrontAnswer(
        x=axes[0].metric,
        y=axes[1].metric,
        goals=[axis.goal for axis in axes],
        selection=chooser(view),
        reference_point=[axis.reference for axis in axes],
        hypervolume=hypervolume(points, axes),
        points=[shown[point.key] for point in nondominated(points, axes)],
        arms=[
            ArmFront(
                name=name,
                hypervolume=hypervolume(own, axes),
                hypervolume_mean=means[name],
                points=[shown[point.key] for point in fronts[name]],
            )
            for name, own in by_arm.items()
        ],
    )
