"""A study's view is a fold of its log: advanced by the events that came since."""

from __future__ import annotations

from service.contract.study.expansion import expand
from service.contract.study.study import Study
from service.contract.wire.events import (
    Report,
    StudyEvent,
    StudyFailed,
    StudyFinished,
    StudyStarted,
    StudyState,
    TrialEvent,
    TrialFailed,
    TrialFinished,
    TrialStarted,
    TrialState,
)
from service.store.protocol import Logged, StudyRow
from service.views.trial import TrialView
from service.views.view import Memo


class StudyView:
    """A study as the log tells it. `seq` is the last event folded in."""

    def __init__(self, row: StudyRow) -> None:
        self.id = row.id
        self.spec = row.spec
        self.study = Study.model_validate(row.spec)
        self.metrics = self.study.metrics
        self.created_at = row.created_at
        self.state = StudyState.QUEUED
        self.reason: str | None = None
        self.started_at: str | None = None
        self.ended_at: str | None = None
        self.job: str | None = None
        self.attempt = 0
        self.fruitless = 0
        self.seq = 0
        self.trials = {planned.id: TrialView(planned) for planned in expand(self.study)}
        self.arms = {planned.id: planned.arm for planned in (t.planned for t in self.trials.values())}
        self.ended: list[str] = []  # trials in the order in which they ended
        self.alike = self.attacked_alike = True
        self.memo = Memo()

    def apply(self, logged: Logged) -> None:
        self.seq, at, event = logged
        self.memo.clear()
        if isinstance(event, TrialEvent):
            self._apply_to_trial(event, at)
        else:
            self._apply_to_study(event, at)

    def _apply_to_study(self, event: StudyEvent, at: str) -> None:
        self.state = event.leads_to
        self.reason = event.reason if isinstance(event, (StudyStarted, StudyFinished, StudyFailed)) else None
        running = [trial for trial in self.trials.values() if trial.state is TrialState.RUNNING]
        if isinstance(event, StudyStarted):
            self.started_at = self.started_at or at
            self.job, self.attempt = event.job, self.attempt + 1
            self.fruitless += 1
            for trial in running:
                trial.state = TrialState.PLANNED
        elif self.state.is_ended():
            self.ended_at = at
            for trial in running:
                trial.state, trial.ended_at = TrialState.STOPPED, at
                trial.reason = f"the study was {self.state.value} before it ended"

    def _apply_to_trial(self, event: TrialEvent, at: str) -> None:
        trial = self.trials[event.trial]
        if isinstance(event, Report):
            trial.keep_log(event.log)
            if trial.state is TrialState.PLANNED:
                trial.state = TrialState.RUNNING
            if event.points and any(point["metrics"] for point in event.points):
                trial.curves[len(trial.reports)] = event.points
            trial.reports.append(event.metrics)
            trial.metrics = {**trial.metrics, **event.metrics}
        elif isinstance(event, TrialStarted):
            trial.state, trial.started_at, trial.host = TrialState.RUNNING, at, event.host
            if event.config:
                # A new config, never a change in place: the slots of an arm share theirs.
                trial.planned = trial.planned._replace(config={**trial.planned.config, **event.config})
        elif isinstance(event, (TrialFinished, TrialFailed)):
            trial.keep_log(event.log)
            trial.ended_at = at
            self.ended.append(event.trial)
            if isinstance(event, TrialFailed):
                trial.state, trial.reason = TrialState.FAILED, event.reason
            else:
                trial.state = TrialState.FINISHED
                self.fruitless = 0
