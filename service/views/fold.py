"""A study's view is a fold of its log: advanced by the events that came since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from pydantic import ValidationError

from service.contract.study.earlier import as_meant
from service.contract.study.expansion import Config, PlannedTrial, Slot, expand, shown
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from service.contract.wire.errors import InvalidInput, Unreadable
from service.contract.wire.events import (
    NoteEvent,
    Report,
    Setting,
    StudyEvent,
    StudyExtended,
    StudyFailed,
    StudyFinished,
    StudyInterrupted,
    StudyNoted,
    StudyPaused,
    StudyReconnected,
    StudyResumed,
    StudyRetried,
    StudyStarted,
    StudyState,
    TrialEvent,
    TrialFailed,
    TrialFinished,
    TrialLeased,
    TrialNoted,
    TrialReturned,
    TrialStarted,
    TrialState,
    TrialStopped,
    TrialSuggested,
)
from service.store.protocol import Logged, Spec, StudyRow
from service.views.clock import Clock
from service.views.notes import Notes
from service.views.trial import Lease, TrialView
from service.views.view import Memo

GOES_ON: Mapping[type[StudyEvent], str] = {StudyResumed: "resumed", StudyRetried: "retried", StudyExtended: "extended"}


def _readable(row: StudyRow) -> tuple[Study, list[PlannedTrial | Slot]]:
    """Unreadable with the rule that it breaks: the version that took it may have had another."""
    if row.unreadable is not None:
        raise Unreadable(f"study {row.id} cannot be read: {row.unreadable}")
    try:
        study = Study.model_validate(row.spec)
        return study, expand(study)
    except ValidationError as refused:
        try:
            check_study(row.spec)
            said = str(refused)
        except InvalidInput as error:
            said = error.message
        raise Unreadable(f"study {row.id} cannot be read by this version: {said}") from refused


def _config(planned: PlannedTrial | Slot, suggested: dict[str, Setting]) -> Config:
    return shown(planned, suggested) if isinstance(planned, Slot) else {**planned.config, **suggested}


class StudyView:
    """A study as the log tells it. `seq` is the last event folded in."""

    def __init__(self, row: StudyRow) -> None:
        self.id = row.id
        self.spec = row.spec
        self.study, planned = _readable(row)
        self.metrics = self.study.metrics
        self.created_at = row.created_at
        self.lost_events = row.lost_events
        self.notes = Notes()
        self.state = StudyState.QUEUED
        self.reason: str | None = None
        self.interrupted: str | None = None  # why nobody trains it just now, though it runs
        self.out_of_sight = False  # whether that is because Ray is away
        self.started_at: str | None = None
        self.ended_at: str | None = None
        self.clock = Clock()
        self.job: str | None = None
        self.attempt = 0
        self.fruitless = 0  # starts in a row after which nothing new was reported
        self.not_before: datetime | None = None  # when the next driver may be started; none: at once
        self.waiting = False  # whether it is to go on and no driver was started since
        self.why_again = "resumed"  # what made it go on last
        self.seq = 0
        self._bounds = self.study.bounds
        self.all_trials = {each.id: TrialView(each, bounds=self._bounds) for each in planned}
        self.trials = {own: trial for own, trial in self.all_trials.items() if not trial.planned.verifies}
        self.arms = {each.id: each.arm for each in planned}
        self.names: set[str] = set()  # of metrics that any of its trials reported
        self.ended: list[str] = []  # trials in the order in which they ended
        self._spared: set[str] = set()  # that were not needed, and never begun
        self._away: dict[str, TrialView] = {}  # the same, as they were
        self._cut: list[TrialView] = []  # that were not needed any more, and under way
        self._left_running: list[TrialView] = []  # on Ray, when it went out of sight
        self.alike = self.attacked_alike = True
        self.memo = Memo()

    @property
    def has_own_driver(self) -> bool:
        """Whether the launcher has started one: its jobs bear the study's id."""
        return self.job is not None and self.job.partition("-")[0] == self.id

    @property
    def epochs(self) -> dict[str, int]:
        """Of a trial, by arm."""
        study = self.study
        return {arm.name: int(arm.training.get("epochs", study.training.epochs)) for arm in study.arms}

    @property
    def anew_since(self) -> dict[str, float]:
        """When trials were begun anew, in seconds since 1970; those that were never are not in it."""
        begun = {own: trial.anew_since for own, trial in self.all_trials.items()}
        return {own: datetime.fromisoformat(at).timestamp() for own, at in begun.items() if at is not None}

    def apply(self, logged: Logged) -> None:
        self.seq, at, event = logged
        self.memo.clear()
        if isinstance(event, Report):
            self._apply_report(event, at)
        elif isinstance(event, TrialEvent):
            self._apply_to_trial(event, at)
        elif isinstance(event, NoteEvent):
            self._note(event)
        else:
            self._apply_to_study(event, at)

    def _apply_to_study(self, event: StudyEvent, at: str) -> None:
        was_ended, self.state = self.state.is_ended(), event.leads_to
        says_why = (StudyStarted, StudyFinished, StudyFailed, StudyInterrupted)
        self.reason = event.reason if isinstance(event, says_why) else None
        self.interrupted, self.out_of_sight = None, isinstance(event, StudyInterrupted)
        if isinstance(event, StudyStarted):
            self.started_at, self.clock = self.started_at or at, self.clock.going(at)
            self.interrupted = None if self.waiting else self.reason  # until a trial tells something
            self.job, self.attempt = event.job, self.attempt + 1
            self.fruitless += not event.excused
            self.waiting = False
            self._set_aside()
        elif isinstance(event, StudyPaused):
            self.clock = self.clock.standing(at)
            self._set_aside()
        elif isinstance(event, StudyInterrupted):
            self.interrupted = event.reason
            self._left_running = [trial for trial in self._in(TrialState.RUNNING) if trial.lease is None]
            self._set_aside()
        elif isinstance(event, StudyReconnected):
            for trial in self._left_running:
                trial.state = TrialState.RUNNING if trial.state is TrialState.PLANNED else trial.state
        elif isinstance(event, (StudyResumed, StudyRetried, StudyExtended)):
            self.ended_at, self.fruitless, self.waiting = None, 0, True
            self.clock = self.clock.with_limit_anew() if was_ended else self.clock
            self.why_again = GOES_ON[type(event)]
            for trial in self._cut:
                trial.cut_off = False
            self._cut = []
            self._set_aside()
            if self._spared:  # what goes on may need them after all
                self._plan(self.spec)
            self._plan_again(event, at)
        elif self.state.is_ended():
            self.ended_at, self.clock = at, self.clock.standing(at)
            for trial in self._in(TrialState.RUNNING):
                trial.state, trial.ended_at, trial.lease = TrialState.STOPPED, at, None
                trial.reason = f"the study was {self.state.value} before it ended"
            if isinstance(event, StudyFinished) and event.spared:
                self._spare(event.spared, event.reason or "", at)

    def _spare(self, trials: Sequence[str], why: str, at: str) -> None:
        """What was not needed and never begun was no trial; what was under way has been stopped where it was."""
        known = (self.all_trials[own] for own in trials if own in self.all_trials)
        self._cut = [trial for trial in known if trial.started_at is not None and not trial.is_over]
        for trial in self._cut:
            trial.state, trial.reason, trial.ended_at, trial.cut_off = TrialState.STOPPED, why, at, True
        self._spared = {own for own in trials if own in self.all_trials and self.all_trials[own].started_at is None}
        self._away = {own: self.all_trials[own] for own in self._spared}
        self.all_trials = {own: trial for own, trial in self.all_trials.items() if own not in self._spared}
        self.trials = {own: trial for own, trial in self.trials.items() if own not in self._spared}

    def _note(self, event: NoteEvent) -> None:
        """A name is part of the spec, so that all that is made of the study has it."""
        if isinstance(event, TrialNoted):
            trial = self._away.get(event.trial) or self._trial(event.trial)
            trial.notes = trial.notes.after(event)
            return
        self.notes = self.notes.after(event)
        if isinstance(event, StudyNoted) and event.name is not None:
            self.spec = {**self.spec, "name": event.name}
            self.study = self.study.model_copy(update={"name": event.name})

    def _trial(self, trial_id: str) -> TrialView:
        trial = self.all_trials.get(trial_id)
        if trial is None:
            raise Unreadable(f"study {self.id} cannot be read by this version: its log has an unknown {trial_id!r}")
        return trial

    def _in(self, *states: TrialState) -> list[TrialView]:
        return [trial for trial in self.all_trials.values() if trial.state in states]

    def _set_aside(self) -> None:
        """What was under way has no process now: it runs again when a driver says so. Elsewhere nothing changes."""
        for trial in self._in(TrialState.RUNNING, TrialState.STOPPED):
            if trial.lease is None and not trial.is_over:
                trial.state, trial.ended_at, trial.reason = TrialState.PLANNED, None, None

    def _plan_again(self, event: StudyEvent, at: str) -> None:
        if isinstance(event, StudyRetried):
            self.not_before = datetime.fromisoformat(at) + timedelta(seconds=event.wait_seconds)
            for trial in event.trials:
                self.all_trials[trial].begin_anew(at)
        elif isinstance(event, StudyExtended):
            self._plan(as_meant(event.spec, event.version))
            for trial in event.trials:
                self.all_trials[trial].go_on()
            for trial in event.anew or ():
                self.all_trials[trial].begin_longer(at)
        else:
            return
        self.ended = [trial for trial in self.ended if self.all_trials[trial].is_over]

    def _plan(self, spec: Spec) -> None:
        """From now on it is this study; trials that it had before keep what they told."""
        self.spec, self.study = spec, Study.model_validate(spec)
        self.metrics = self.study.metrics
        planned = expand(self.study)
        self._spared = set()
        self.all_trials = {each.id: self._known_as(each) for each in planned}
        self.trials = {own: trial for own, trial in self.all_trials.items() if not trial.planned.verifies}
        self.arms = {each.id: each.arm for each in planned}

    def _known_as(self, planned: PlannedTrial | Slot) -> TrialView:
        known = self.all_trials.get(planned.id) or self._away.get(planned.id)
        if known is None:
            return TrialView(planned, bounds=self._bounds)
        return known.under(planned._replace(config={**planned.config, **known.planned.config}))

    def _set_going(self, trial: TrialView) -> None:
        """A cohort of a paused study is about to leave."""
        if self.state is not StudyState.PAUSED:
            trial.state = TrialState.RUNNING

    def _with_values(self, trial: TrialView, suggested: dict[str, Setting] | None) -> None:
        """A new config, never a change in place: the slots of an arm share theirs."""
        if suggested:
            trial.planned = trial.planned._replace(config=_config(trial.planned, suggested))

    def _somebody_trains(self, elsewhere: bool) -> None:
        """Who trains elsewhere says nothing about Ray."""
        if self.out_of_sight and elsewhere:
            return
        if self.out_of_sight:
            self.reason = None
        self.interrupted, self.out_of_sight = None, False

    def _apply_report(self, event: Report, at: str) -> None:
        """Nearly all of a log is reports: a restart takes as long as this does."""
        trial, metrics = self._trial(event.trial), event.metrics
        if self.interrupted is not None or self.out_of_sight:
            self._somebody_trains(elsewhere=event.lease is not None)
        if trial.lease is not None:
            trial.lease = trial.lease.told(at)
        if event.log:
            trial.keep_log(event.log)
        self.fruitless = 0
        if trial.state is TrialState.PLANNED:
            self._set_going(trial)
        if event.points and any(point["metrics"] for point in event.points):
            trial.curves[len(trial.reports)] = event.points
            self.names.update(*(point["metrics"] for point in event.points))
        known = len(trial.metrics)
        trial.reports.append(metrics)
        trial.metrics = trial.metrics | metrics
        if len(trial.metrics) > known:
            self.names.update(metrics)

    def _apply_to_trial(self, event: TrialEvent, at: str) -> None:
        trial = self._trial(event.trial)
        self._somebody_trains(elsewhere=getattr(event, "lease", None) is not None)
        if trial.lease is not None:
            trial.lease = trial.lease.told(at)
        if isinstance(event, TrialStarted):
            trial.host = event.host
            self._set_going(trial)
            trial.started_at = trial.started_at if trial.started_at and event.epoch else at
            self._with_values(trial, event.config)
        elif isinstance(event, TrialStopped):
            self._end(event.trial)
            trial.stop(event.epoch, event.reason, at)
        elif isinstance(event, (TrialFinished, TrialFailed)):
            trial.keep_log(event.log)
            trial.lease = None
            self._end(event.trial)
            trial.ended_at = at
            if isinstance(event, TrialFailed):
                trial.state, trial.reason = TrialState.FAILED, event.reason
            else:
                trial.state, trial.reason = TrialState.FINISHED, event.reason
                self.fruitless = 0
        else:
            self._apply_elsewhere(event, trial, at)

    def _end(self, trial_id: str) -> None:
        """The last of those that have ended; one that trained on ends once."""
        if self.all_trials[trial_id].ended_at is not None and trial_id in self.ended:
            self.ended.remove(trial_id)
        if trial_id in self.trials:
            self.ended.append(trial_id)

    def _apply_elsewhere(self, event: TrialEvent, trial: TrialView, at: str) -> None:
        """Of trials that Ray does not train: suggested, handed out, given back."""
        if isinstance(event, TrialSuggested):
            self._with_values(trial, event.config)
        elif isinstance(event, TrialLeased):
            trial.begin_elsewhere(Lease(event.lease, event.holder, event.seconds, at, token=event.token))
        elif isinstance(event, TrialReturned):
            trial.give_back()
