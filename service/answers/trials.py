"""Trials, as the API answers them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from service.analysis import metric_intervals
from service.analysis.candidates import front_ids
from service.analysis.lights import lights_of
from service.contract.wire.answers.trials import MetricLight, TrialAnswer, TrialRow, TrialWithReports
from service.views.trial import TrialView
from service.views.view import View

Row = TypeVar("Row", bound=TrialRow)


def _row(kind: type[Row], view: View, trial_id: str, on_front: bool, **more: Any) -> Row:
    trial = view.all_trials[trial_id]
    return kind(
        id=trial_id,
        arm=trial.planned.arm,
        seed=trial.planned.seed,
        state=trial.state,
        reason=trial.reason,
        collapsed=trial.collapsed,
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
        **more,
    )


def trial_rows(view: View, trials: Iterable[str]) -> list[TrialRow]:
    front = front_ids(view)
    return [_row(TrialRow, view, trial_id, trial_id in front) for trial_id in trials]


def trials_with_reports(view: View) -> list[TrialWithReports]:
    front = front_ids(view)
    return [
        _row(TrialWithReports, view, trial_id, trial_id in front, **_reported(trial))
        for trial_id, trial in view.all_trials.items()
    ]


def trial_answer(view: View, trial_id: str, artifacts: dict[str, int]) -> TrialAnswer:
    """The trial with all its reports, the last lines of its log, and the bytes of its files."""
    trial, on_front = view.all_trials[trial_id], trial_id in front_ids(view)
    more = {"log": list(trial.log), "artifacts": artifacts}
    return _row(TrialAnswer, view, trial_id, on_front, **_reported(trial), **more)


def _reported(trial: TrialView) -> dict[str, Any]:
    """Report by report, each with the curve that came with it, and the last curve by itself."""
    reports: list[dict[str, object]] = [dict(report) for report in trial.reports]
    for number, curve in trial.curves.items():
        reports[number]["points"] = curve
    return {"reports": reports, "points": trial.points}
