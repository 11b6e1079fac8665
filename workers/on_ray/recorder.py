"""What Ray Tune tells about cohorts, as events about trials."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec

from ray.tune import Callback
from ray.tune.experiment import Trial
from ray.tune.result import HOSTNAME, NODE_IP

from service.contract.wire.epoch_report import EpochReport
from service.contract.wire.events import Metrics
from workers.on_ray.trainable import living_of, report_of
from workers.planning.rungs import Stopped
from workers.sending.reporter import Reporter

log = logging.getLogger(__name__)

P = ParamSpec("P")

WORKER_DEATHS = 2  # in a row: a cohort is tried again when its process died, not when it raised


def _never_raises(method: Callable[P, None]) -> Callable[P, None]:
    """Tune aborts the whole study when a callback raises."""

    @functools.wraps(method)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            method(*args, **kwargs)
        except Exception:
            log.exception("%s failed", method.__name__)

    return guarded


class NotSaved:
    """Tune pickles a run in order to restore it. We never do, and a queue with a thread cannot be pickled."""

    def __getstate__(self) -> dict[str, object]:
        return {}


class Recorder(NotSaved, Callback):
    """Turns what Tune tells about cohorts into events about trials."""

    def __init__(
        self,
        trials: Iterable[str],
        reporter: Reporter,
        ended: Callable[[str, Metrics | None], None],
        begun: Mapping[str, int] | None = None,
    ) -> None:
        """`begun` are trials that the log has as started, with the epoch after which they are known to go on, or 0."""
        self.open = set(trials)
        self.paused = False  # whether a cohort has left because of it
        self._told: dict[str, int | None] = {}  # after which epoch each was said to start, none for a first start
        self._begun = begun or {}
        self._running: set[str] = set()  # whose process has said where it starts
        self._reporter = reporter
        self._ended = ended  # told of each trial once: its last metrics, or none when it failed
        self.said_all: Callable[[str], None] = lambda trial_id: None  # told of Tune trials with their last report
        self.cut: Callable[[str, int], None] = lambda trial_id, most: None  # told of those that were too large
        self.rested: Callable[[int, Mapping[str, Metrics]], Sequence[Stopped]] = lambda epoch, metrics: ()
        self._metrics: dict[str, Metrics] = {}
        self._furthest: dict[str, int] = {}  # the last epoch of each Tune trial

    @_never_raises
    def on_trial_start(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        """Of a process that is started again it is not known yet where it goes on: it says so itself."""
        host = _host(trial.last_result)  # before the first report: what its process told about itself
        for member, suggested in living_of(trial.config).items():
            if member in self.open and member not in self._told:
                self._told[member] = self._begun.get(member)
                self._reporter.trial_started(member, host, suggested, self._told[member])

    @_never_raises
    def on_trial_result(
        self, iteration: int, trials: list[Trial], trial: Trial, result: Mapping[str, object], **info: Any
    ) -> None:
        if report := report_of(result):
            if report.begins:
                self._say_where(trial, report.epoch, _host(result))
            else:
                self._forget_deaths(trial, report.epoch)
            if report.most:
                self.cut(trial.trial_id, report.most)
            self.paused = self.paused or report.leaves
            self.record(living_of(trial.config), report)
            if report.final or report.rests:
                self.said_all(trial.trial_id)

    @_never_raises
    def on_trial_error(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        self.fail(living_of(trial.config), _last_line(trial))

    def _forget_deaths(self, trial: Trial, epoch: int) -> None:
        """A process that trained something new is not one that cannot be trained: its death is the first again."""
        if epoch > self._furthest.get(trial.trial_id, 0):
            self._furthest[trial.trial_id] = epoch
            trial.run_metadata.num_failures = 0

    def _say_where(self, trial: Trial, epoch: int, host: str | None) -> None:
        """After which epoch a cohort starts, unless that was said when its process did."""
        for member, suggested in living_of(trial.config).items():
            said = self._told.get(member, 0)
            if member in self.open and ((said or 0) != epoch or member in self._running):
                self._told[member] = epoch
                self._reporter.trial_started(member, host, suggested, epoch)
            self._running.add(member)

    def record(self, members: Collection[str], report: EpochReport) -> None:
        """What the cohort logged goes to each member once, with the first event that the report makes of it."""
        lines = dict.fromkeys(members, report.log)
        for member, metrics in report.metrics.items():
            if member not in members:
                continue
            self._metrics[member] = {**self._metrics.get(member, {}), **metrics}
            self._reporter.report(member, report.epoch, metrics, lines.pop(member, []), report.points.get(member))
        for member, reason in report.failures.items():
            if member in members:
                self.fail([member], reason, lines.pop(member, []))
        if report.rests:
            self.stop(self.rested(report.epoch, {own: report.metrics[own] for own in members if own in report.metrics}))
        if report.final:
            for member in members:
                if member in self.open:
                    self.open.remove(member)
                    self._reporter.trial_finished(member, lines.pop(member, []), report.missing.get(member))
                    self._ended(member, self._metrics.pop(member, {}))

    def stop(self, stopped: Iterable[Stopped]) -> None:
        """Trials that train no further, as others of their arm are ahead of them."""
        for trial, epoch, reason in stopped:
            if trial in self.open:
                self.open.remove(trial)
                self._reporter.trial_stopped(trial, epoch, reason)
                self._metrics.pop(trial, None)

    def fail(self, members: Iterable[str], reason: str, lines: Sequence[str] = ()) -> None:
        for member in members:
            if member in self.open:
                self.open.remove(member)
                self._reporter.trial_failed(member, reason, lines)
                self._metrics.pop(member, None)
                self._ended(member, None)


def _host(said: Mapping[str, object]) -> str | None:
    """Name and address of the node that a result comes from; none when its process has died at once."""
    return f"{said[HOSTNAME]}/{said[NODE_IP]}" if NODE_IP in said else None


def _last_line(trial: Trial) -> str:
    """Tune writes a traceback to a file; its last line says what happened, Ray's advice on it left out."""
    try:
        lines = Path(trial.error_file).read_text(errors="replace").split("\n") if trial.error_file else []
    except OSError as error:
        lines = [f"the worker process died, and what it wrote cannot be read: {error}"]
    said = next((line.strip() for line in reversed(lines) if line.strip()), "the worker process died")
    return f"tried {WORKER_DEATHS + 1} times: {said.partition(' Some common causes')[0]}"
