"""A kept study as a view: the events that its log would have had, folded as the service folds them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime, timedelta

from findings.finding import Finding, KeptTrial
from service.contract.wire.events import (
    Curve,
    Event,
    Metrics,
    Report,
    StudyCancelled,
    StudyFailed,
    StudyFinished,
    StudyQueued,
    StudyStarted,
    StudyState,
    TrialFailed,
    TrialFinished,
    TrialStarted,
    TrialState,
    TrialStopped,
)
from service.store.protocol import Logged, StudyRow
from service.views.fold import StudyView


def view_of(finding: Finding) -> StudyView:
    """Every number that the dashboard would show of the study can be computed from it."""
    study = finding.study
    view = StudyView(StudyRow(study.id, study.spec, study.state, study.created_at.isoformat()))
    planned = [(trial.planned.arm, trial.planned.seed) for trial in view.all_trials.values()]
    own = [(trial.arm, trial.seed) for trial in finding.trials]
    if planned != own:
        raise ValueError(f"the spec plans {len(planned)} trials, in another order than the {len(own)} that are kept")
    for seq, (at, event) in enumerate(_log(finding, list(view.all_trials)), 1):
        view.apply(Logged(seq, at.isoformat(), event))
    return view


def _log(finding: Finding, ids: list[str]) -> Iterator[tuple[datetime, Event]]:
    study = finding.study
    yield study.created_at, StudyQueued(uid="queued")
    yield study.started_at, StudyStarted(uid="started")
    trials = list(zip(ids, finding.trials, strict=True))
    for trial_id, trial in trials:
        if trial.spared:
            continue
        if trial.state is not TrialState.PLANNED:
            yield study.started_at, TrialStarted(uid=f"{trial_id}:started", trial=trial_id, config=trial.suggested)
        reports = list(_reports(finding, trial))
        for i, metrics in enumerate(reports):
            points = _points(finding, trial) if i == len(reports) - 1 else None
            yield study.started_at, Report(uid=f"{trial_id}:{i}", trial=trial_id, metrics=metrics, points=points)
    for trial_id, trial in sorted(trials, key=lambda pair: math.inf if pair[1].ended is None else pair[1].ended):
        at = study.started_at + timedelta(seconds=trial.ended or 0.0)
        if trial.state is TrialState.FINISHED:
            yield at, TrialFinished(uid=f"{trial_id}:finished", trial=trial_id)
        elif trial.state is TrialState.FAILED:
            yield at, TrialFailed(uid=f"{trial_id}:failed", trial=trial_id, reason=trial.reason or "")
        elif trial.stopped_after is not None:
            after, why = trial.stopped_after, trial.reason or ""
            yield at, TrialStopped(uid=f"{trial_id}:stopped", trial=trial_id, epoch=after, reason=why)
    spared = [trial_id for trial_id, trial in trials if trial.spared or _is_cut_off(trial, study.reason)]
    yield study.ended_at, _end(study.state, study.reason, spared)


def _is_cut_off(trial: KeptTrial, why: str | None) -> bool:
    """Whether it ended where it was because its arm had spent its seconds: then it has the study's own reason."""
    return trial.state is TrialState.STOPPED and trial.stopped_after is None and why is not None and trial.reason == why


def _reports(finding: Finding, trial: KeptTrial) -> Iterator[Metrics]:
    """Its curves, report by report, then everything that it reported last; what is null was not reported."""
    over = list(zip(*trial.curves, strict=True))
    for report in over[:-1]:
        yield _known(finding.curves, report)
    last = _known(finding.metrics, trial.values)
    if last:
        yield _known(finding.curves, over[-1]) | last if over else last


def _points(finding: Finding, trial: KeptTrial) -> Curve | None:
    """Its last curve; none where it is a single point."""
    return [{"where": p.where, "metrics": _known(finding.metrics, p.values)} for p in trial.points] or None


def _known(names: list[str], values: tuple[int | float | None, ...] | list[int | float | None]) -> Metrics:
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}


def _end(state: StudyState, reason: str | None, spared: list[str]) -> Event:
    if state is StudyState.FINISHED:
        return StudyFinished(uid="end", reason=reason, spared=spared or None)
    if state is StudyState.FAILED:
        return StudyFailed(uid="end", reason=reason or "")
    if state is StudyState.CANCELLED:
        return StudyCancelled(uid="end")
    raise ValueError(f"study.state: only a study that has ended is kept, got {state.value!r}")
