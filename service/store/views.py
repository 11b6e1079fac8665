"""Views are a fold of the log: kept in memory, advanced by the events that came since."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from service.analysis import metric_intervals
from service.contract import outcomes
from service.contract.errors import NotFound
from service.contract.events import LOG_LINES, STATE_AFTER, StudyState, TrialState
from service.contract.expansion import PlannedTrial, expand
from service.contract.study import Study
from service.store.database import Event, Store, StudyRow

KEPT_VIEWS = 256
MOST_MEMOS = 64
T = TypeVar("T")


@dataclass
class TrialView:
    """One trial as the log tells it."""

    planned: PlannedTrial
    state: TrialState = TrialState.PLANNED
    reason: str | None = None
    host: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    metrics: dict[str, float | None] = field(default_factory=dict)
    reports: list[dict[str, float | None]] = field(default_factory=list)
    log: list[str] = field(default_factory=list)  # the last lines

    @property
    def collapsed(self) -> bool:
        """The code carries nothing, now that training is over."""
        return self.state is TrialState.FINISHED and outcomes.collapsed(self.metrics)

    @property
    def training_seconds(self) -> float | None:
        return self.metrics.get("seconds")

    @property
    def counts_for_front(self) -> bool:
        return bool(self.metrics) and self.state is not TrialState.FAILED and not self.collapsed

    def under(self, planned: PlannedTrial) -> TrialView:
        """The same trial under another plan: another arm's name."""
        return replace(self, planned=planned)

    @property
    def done(self) -> float:
        """Share of this trial that needs no more work, 0 to 1."""
        if self.state in (TrialState.FINISHED, TrialState.FAILED):
            return 1.0
        return min(1.0, (self.metrics.get("epoch") or 0.0) / self.planned.training.epochs)


class StudyView:
    """A study as the log tells it. `seq` is the last event folded in."""

    alike = True  # every trial was measured on the same data
    attacked_alike = True  # and under the same attacks

    def __init__(self, row: StudyRow) -> None:
        self.id = row.id
        self.spec = row.spec
        self.study = Study.model_validate(row.spec)
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
        self._memo: dict[str, Any] = {}

    def memo(self, name: str, compute: Callable[[], T]) -> T:
        """What was computed from this state of the log already; the next event makes it old."""
        if name not in self._memo:
            if len(self._memo) >= MOST_MEMOS:
                self._memo.clear()
            self._memo[name] = compute()
        found: T = self._memo[name]
        return found

    def apply(self, event: Event) -> None:
        self.seq = event.seq
        self._memo.clear()
        if event.kind in STATE_AFTER:
            self._apply_to_study(event)
        else:
            self._apply_to_trial(self.trials[event.body["trial"]], event)
            if event.kind == "trial_finished":
                self.fruitless = 0
            if event.kind in ("trial_finished", "trial_failed"):
                self.ended.append(event.body["trial"])

    def _apply_to_study(self, event: Event) -> None:
        self.state = STATE_AFTER[event.kind]
        self.reason = event.body.get("reason")
        running = [trial for trial in self.trials.values() if trial.state is TrialState.RUNNING]
        if event.kind == "study_started":
            self.started_at = self.started_at or event.at
            self.job, self.attempt = event.body.get("job"), self.attempt + 1
            self.fruitless += 1
            for trial in running:
                trial.state = TrialState.PLANNED
        elif self.state.is_ended():
            self.ended_at = event.at
            for trial in running:
                trial.state, trial.ended_at = TrialState.STOPPED, event.at
                trial.reason = f"the study was {self.state.value} before it ended"

    @staticmethod
    def _apply_to_trial(trial: TrialView, event: Event) -> None:
        if lines := event.body.get("log"):
            trial.log = [*trial.log, *lines][-LOG_LINES:]
        if event.kind == "trial_started":
            trial.state, trial.started_at = TrialState.RUNNING, event.at
            trial.host = event.body.get("host")
            if suggested := event.body.get("config"):
                # A new config, never a change in place: the slots of an arm share theirs.
                trial.planned = trial.planned._replace(config={**trial.planned.config, **suggested})
        elif event.kind == "report":
            if trial.state is TrialState.PLANNED:
                trial.state = TrialState.RUNNING
            trial.reports.append(event.body["metrics"])
            trial.metrics = {**trial.metrics, **event.body["metrics"]}
        elif event.kind == "trial_finished":
            trial.state, trial.ended_at = TrialState.FINISHED, event.at
        elif event.kind == "trial_failed":
            trial.state, trial.ended_at = TrialState.FAILED, event.at
            trial.reason = event.body["reason"]

    @property
    def progress(self) -> float:
        return self.progress_of(None)

    def progress_of(self, arm: str | None) -> float:
        done = [trial.done for trial in self.trials.values() if arm is None or trial.planned.arm == arm]
        return sum(done) / len(done)

    def eta_seconds(self) -> float | None:
        """Time left if it goes on as it did; none before anything was reported."""
        progress = self.progress
        if self.state is not StudyState.RUNNING or self.started_at is None or progress <= 0:
            return None
        elapsed = (datetime.now(UTC) - datetime.fromisoformat(self.started_at)).total_seconds()
        return elapsed * (1 - progress) / progress

    def counts(self, arm: str | None = None) -> dict[str, int]:
        """`planned` counts all trials; `collapsed` are finished ones whose code carries nothing."""
        chosen = [t for t in self.trials.values() if arm is None or t.planned.arm == arm]
        states = [trial.state for trial in chosen]
        return {
            "planned": len(chosen),
            "running": states.count(TrialState.RUNNING),
            "finished": states.count(TrialState.FINISHED),
            "failed": states.count(TrialState.FAILED),
            "stopped": states.count(TrialState.STOPPED),
            "collapsed": sum(trial.collapsed for trial in chosen),
        }


class Views:
    """The views in use, one lock for each so that a fold never runs twice."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._views: OrderedDict[str, tuple[threading.RLock, StudyView]] = OrderedDict()

    @contextmanager
    def read(self, study_id: str) -> Iterator[StudyView]:
        """The up-to-date view, held still while it is read."""
        with self._lock:
            entry = self._views.get(study_id)
        if entry is None:
            entry = (threading.RLock(), StudyView(self._store.study(study_id)))
            with self._lock:
                entry = self._views.setdefault(study_id, entry)
                while len(self._views) > KEPT_VIEWS:
                    self._views.popitem(last=False)
            try:
                self._store.study(study_id)
            except NotFound:  # deleted while it was read: it must not stay as if it were there
                self.forget(study_id)
                raise
        lock, view = entry
        with lock:
            for event in self._store.read(study_id, after=view.seq):
                view.apply(event)
            yield view

    def warm(self, count: int, stopping: threading.Event) -> None:
        """Fold the newest studies before anyone asks: after a restart a large log takes seconds."""
        for row in self._store.list_studies(None, count, None):
            if stopping.is_set():
                return
            with suppress(NotFound), self.read(row.id):  # deleted in the meantime
                pass

    def forget(self, study_id: str) -> None:
        with self._lock:
            self._views.pop(study_id, None)

    def trial_ids(self, study_id: str) -> dict[str, str]:
        """Arm by trial id, which no event changes: drivers need not wait for whoever reads the view just now."""
        with self._lock:
            entry = self._views.get(study_id)
        if entry is None:
            with self.read(study_id) as view:
                return view.arms
        self._store.study(study_id)
        return entry[1].arms


def public_trial(view: StudyView, trial_id: str, on_front: bool) -> dict[str, Any]:
    """A trial in the shape of the API."""
    trial = view.trials[trial_id]
    return {
        "id": trial_id,
        "arm": trial.planned.arm,
        "seed": trial.planned.seed,
        "state": trial.state.value,
        "reason": trial.reason,
        "collapsed": trial.collapsed,
        "on_front": on_front,
        "config": trial.planned.config,
        "metrics": trial.metrics,
        "intervals": metric_intervals(trial.metrics),
        "training_seconds": trial.training_seconds,
        "started_at": trial.started_at,
        "ended_at": trial.ended_at,
        "host": trial.host,
    }
