"""Trials, as the API answers them."""

from __future__ import annotations

from collections.abc import Iterable

from service.analysis import metric_intervals
from service.analysis.candidates import chooser, front_ids
from service.analysis.lights import lights_of
from service.analysis.readings import Reading
from service.analysis.trial_places import PlacedPoint, told, trial_place
from service.contract.wire.answers.trials import (
    FrontReading,
    MetricLight,
    PointAgainstFront,
    TrialAgainstFront,
    TrialAnswer,
    TrialRow,
    TrialWithReports,
)
from service.views.view import View


def _row(view: View, trial_id: str, on_front: bool) -> TrialRow:
    trial = view.all_trials[trial_id]
    return TrialRow(
        id=trial_id,
        arm=trial.planned.arm,
        seed=trial.planned.seed,
        state=trial.state,
        reason=trial.reason,
        collapsed=trial.collapsed,
        feasible=trial.feasible,
        on_front=on_front,
        verifies=trial.planned.verifies,
        config=trial.planned.config,
        metrics=trial.metrics,
        places=len(trial.points),
        intervals=metric_intervals(trial.metrics),
        lights={name: MetricLight(light=lit.light.name, words=lit.words) for name, lit in lights_of(trial).items()},
        training_seconds=trial.training_seconds,
        started_at=trial.started_at,
        ended_at=trial.ended_at,
        host=trial.host,
        retries=trial.retries,
        extensions=trial.extensions,
        notes=trial.notes.text,
        tags=list(trial.notes.tags),
        stopped_after=trial.stopped_after,
    )


def trial_rows(view: View, trials: Iterable[str]) -> list[TrialRow]:
    front = front_ids(view)
    return [_row(view, trial_id, trial_id in front) for trial_id in trials]


def trials_with_reports(view: View) -> list[TrialWithReports]:
    front = front_ids(view)
    return [_with_reports(view, trial_id, trial_id in front) for trial_id in view.all_trials]


def trial_answer(view: View, trial_id: str, artifacts: dict[str, int]) -> TrialAnswer:
    """The trial with all its reports, the last lines of its log, and the bytes of its files."""
    whole = _with_reports(view, trial_id, trial_id in front_ids(view))
    log = list(view.all_trials[trial_id].log)
    return TrialAnswer(**whole.fields(), selection=chooser(view), log=log, artifacts=artifacts)


def _with_reports(view: View, trial_id: str, on_front: bool) -> TrialWithReports:
    """Report by report, each with the curve that came with it; the last curve by itself; where that lies."""
    trial, row = view.all_trials[trial_id], _row(view, trial_id, on_front)
    reports: list[dict[str, object]] = [dict(report) for report in trial.reports]
    for number, curve in trial.curves.items():
        reports[number]["points"] = curve
    against = _against_front(view, trial_id)
    return TrialWithReports(**row.fields(), reports=reports, points=trial.points, against_front=against)


def _against_front(view: View, trial_id: str) -> TrialAgainstFront | None:
    place = trial_place(view, trial_id)
    if place is None:
        return None
    metrics = [objective.metric for objective in view.study.objectives]
    return TrialAgainstFront(baseline=place.baseline, points=[_point(point, metrics) for point in place.points])


def _point(point: PlacedPoint, metrics: list[str]) -> PointAgainstFront:
    where, dominated, place = point
    if place is None:
        return PointAgainstFront(
            where=where, dominated=dominated, beyond=None, distance=None, matched={}, amounts_to={}
        )
    gaps = dict(zip(metrics, place.matched, strict=True))
    return PointAgainstFront(
        where=where,
        dominated=dominated,
        beyond=place.beyond,
        distance=None if place.beyond else _reading(place.distance),
        matched={metric: _reading(gap) for metric, gap in gaps.items() if gap is not None},
        amounts_to=place.amounts,
    )


def _reading(reading: Reading) -> FrontReading:
    return FrontReading(told=told(reading), step=reading.step, line=reading.line)
