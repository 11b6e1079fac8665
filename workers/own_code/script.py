"""A function of the user's that trains by itself: it runs in a thread, and what it reports becomes reports of a cohort
of one.

`trial.save` goes the way of every cohort's state: it is kept by the service with the progress, and a killed trial
goes on from there. What was reported after the last save is then reported again.
"""

from __future__ import annotations

import logging
import math
import queue
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import torch

from paretoscope.own import Trainable
from service.contract.methods.own_problems import OwnProblem
from service.contract.metrics import EPOCH, SECONDS
from service.contract.study.expansion import PlannedTrial
from service.contract.wire.epoch_report import EpochReport
from service.contract.wire.events import Metrics
from service.contract.wording.numbers import number
from workers.own_code.errors import CodeError, at_line, explained
from workers.own_code.loaded import LoadedCode
from workers.own_code.randomness import seeded
from workers.own_code.trial import Said, Saved, Stopped, Trial
from workers.own_code.watching import PAUSED, Watch
from workers.state import State
from workers.training.loop import Progress

log = logging.getLogger(__name__)

SAVED = "saved"  # the name of what the function saved in a cohort's state
LOOK_SECONDS = 0.5  # between two looks at what it saved, and whether it is to leave
PATIENCE = 5.0  # seconds in which a function that is to stop may do so


class Keeper(Protocol):
    """Who keeps what the function saves, and knows whether it is to leave: `workers.sending.saving.Saving`."""

    @property
    def is_to_leave(self) -> bool: ...
    def __call__(self, progress: Progress) -> bool: ...
    def leave(self, progress: Progress) -> None: ...


class Ended(NamedTuple):
    """The function is over: well, by what it raised, or because it is waited for no more."""

    error: BaseException | None
    left_alone: bool = False


def run_script(
    code: LoadedCode,
    planned: PlannedTrial,
    begun: Progress | None = None,
    keeper: Keeper | None = None,
    at_last: Callable[[Progress, EpochReport], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
    watch: Watch | None = None,
) -> Iterator[EpochReport]:
    """One report for each that the function makes, then a last one without metrics, as nobody knows before which is
    the last; none where it leaves. `begun` and `at_last` as for `train`; `watch` is told the thread it runs in."""
    spec = planned.problem
    if not isinstance(spec, OwnProblem):
        raise ValueError(f"a script of the study's own code is needed, got {spec.name!r}")
    said: queue.Queue[Said | Ended] = queue.Queue()
    with tempfile.TemporaryDirectory(prefix=f"{planned.id}-", ignore_cleanup_errors=True) as folder:
        metrics = [metric.name for metric in spec.described.metrics]
        trial = Trial(planned.seed, spec.values(), Path(folder), metrics, _saved_in(begun), said.put, clock)
        running = _Running(planned, trial, said, keeper, watch)  # before it saves anything
        work = (code.script(spec), trial, said, spec)
        thread = threading.Thread(target=_run, args=work, name=spec.name, daemon=True)
        thread.start()
        if watch and thread.ident is not None:
            watch.follow(thread.ident)
        try:
            yield from running.reports()
            if not running.has_left:
                yield _last(running, trial, code, planned, at_last)
        finally:
            trial.close()
            thread.join(timeout=PATIENCE)
            if thread.is_alive():
                log.warning("%s goes on though it was told to stop: look at trial.should_stop", spec.name)


class _Running:
    """A function in its thread, as this one hears of it."""

    def __init__(
        self,
        planned: PlannedTrial,
        trial: Trial,
        said: queue.Queue[Said | Ended],
        keeper: Keeper | None,
        watch: Watch | None,
    ) -> None:
        self._planned, self._trial, self._said, self._keeper, self._watch = planned, trial, said, keeper, watch
        self.ended, self.epoch = Ended(None), trial.saved_at.epoch
        self.heard: Said | None = None  # last
        self._stops = False
        self._until: float | None = None  # it is waited for, once it has had its last word or was made to end
        self._kept = trial.saved_at

    def reports(self) -> Iterator[EpochReport]:
        """Those with metrics. When it is to leave, one more is taken, so that its work is not for nothing."""
        while isinstance(each := self._next(), Said):
            self.heard, self.epoch = each, each.epoch
            for name in (name for name, value in each.metrics.items() if not math.isfinite(value)):
                log.warning("report %d gave no finite %s: it has no place on a front", each.epoch, name)
            metrics: Metrics = {EPOCH: each.epoch, SECONDS: each.seconds, **each.metrics}
            yield EpochReport(epoch=each.epoch, metrics={self._planned.id: metrics}, failures={}, final=False)
            self._look()
            if self._stops:
                self._until = time.monotonic() + PATIENCE
                self._trial.close()
            else:
                self._trial.go_on()
        self.ended = each
        if self.has_left and self._keeper:
            saved = self._trial.saved_at
            how = "begins anew" if saved.content is None else f"goes on from what it saved after epoch {saved.epoch}"
            log.info("%s is left, and %s later", self._planned.problem.name, how)
            self._keeper.leave(self._progress())

    @property
    def has_left(self) -> bool:
        """Whether it ended because it was to leave; one that did not notice has ended by itself."""
        return self._was_made_to or (self._stops and (self._trial.knows or self.ended.left_alone))

    @property
    def _was_made_to(self) -> bool:
        return self._watch is not None and self._watch.ended == PAUSED

    def _next(self) -> Said | Ended:
        """What it says next. A call into C that never returns is left alone: it ends with the process."""
        while True:
            try:
                return self._said.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                self._look()
            now = time.monotonic()
            if self._until is None and self._was_made_to:
                self._until = now + PATIENCE
            if self._until is not None and now > self._until:
                return Ended(None, left_alone=True)

    def _look(self) -> None:
        """Hands on what it has saved since, and tells it to stop where it is to."""
        if self._keeper is None:
            return
        new = self._trial.saved_at is not self._kept
        if self._keeper.is_to_leave or (new and self._keeper(self._progress())):
            self._stops = True
            self._trial.stop()

    def _progress(self) -> Progress:
        """As of the last save: what came after it is done again."""
        saved = self._trial.saved_at

        def state() -> State:
            self._kept = saved
            return _state(saved)

        return Progress(saved.epoch, saved.seconds, (), state, is_empty=saved.content is None)


def _last(
    running: _Running,
    trial: Trial,
    code: LoadedCode,
    planned: PlannedTrial,
    at_last: Callable[[Progress, EpochReport], None] | None,
) -> EpochReport:
    fault: CodeError | None = None
    if running.ended.error is not None:
        fault = explained(running.ended.error, code.folder)
    elif not trial.reported:
        fault = CodeError(f"{planned.problem.name} ended without a report: it has to call trial.report")
    elif running.heard:
        fault = _unmeasured(running.heard, code.folder)
    if fault:
        log.warning("trial %s failed: %s", planned.id, fault.told)
    else:
        log.info("%s ended after %s s", planned.problem.name, number(trial.seconds))
    failures = {planned.id: fault.message} if fault else {}
    last = EpochReport(epoch=running.epoch, metrics={}, failures=failures, final=True)
    if at_last and not fault:
        saved = trial.saved_at
        at_last(Progress(saved.epoch, saved.seconds, (), lambda: _state(saved)), last)
    return last


def _unmeasured(last: Said, folder: Path) -> CodeError | None:
    """What is wrong with the last report, as far as a metric in it is no number."""
    for name, value in last.metrics.items():
        if not math.isfinite(value):
            words = f"trial.report got {value} for {name}, and nothing after it"
            return at_line(last.file, last.line, folder, words)
    return None


def _run(function: Trainable, trial: Trial, said: queue.Queue[Said | Ended], spec: OwnProblem) -> None:
    """In the thread: whatever ends the function is told, also what is no Exception."""
    error: BaseException | None = None
    try:
        with seeded(trial.seed):
            function(trial, **spec.values())
    except Stopped:
        pass
    except BaseException as raised:  # noqa: BLE001 - sys.exit too ends a trial, not the process
        error = raised
    said.put(Ended(error))


def _state(saved: Saved) -> State:
    if saved.content is None:
        return {}
    content = torch.frombuffer(bytearray(saved.content), dtype=torch.uint8) if saved.content else torch.empty(0)
    return {SAVED: content.to(torch.uint8)}


def _saved_in(begun: Progress | None) -> Saved:
    if begun is None:
        return Saved(None, 0, 0.0)
    state = begun.state()
    return Saved(state[SAVED].numpy().tobytes() if SAVED in state else None, begun.epoch, begun.seconds)
