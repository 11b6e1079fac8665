"""A function of the user's that trains by itself: it runs in a thread, and what it reports becomes reports of a cohort
of one.

`trial.save` goes the way of every cohort's state: it is kept by the service with the progress, and a killed trial
goes on from there. What was reported after the last save is then reported again.
"""

from __future__ import annotations

import logging
import queue
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import torch

from paretoscope.own import Trainable
from service.contract.methods.own_problems import OwnProblem
from service.contract.metrics import EPOCH, SECONDS
from service.contract.study.expansion import PlannedTrial
from service.contract.wire.epoch_report import EpochReport
from service.contract.wire.events import Metrics
from service.contract.wording.numbers import number
from workers.own_code.errors import explained
from workers.own_code.loaded import LoadedCode
from workers.own_code.randomness import seeded
from workers.own_code.trial import Said, Saved, Stopped, Trial
from workers.state import State
from workers.training.loop import Progress

log = logging.getLogger(__name__)

SAVED = "saved"  # the name of what the function saved in a cohort's state
PATIENCE = 5.0  # seconds in which a function that is to stop may do so


class Ended(NamedTuple):
    """The function is over: well, or by what it raised."""

    error: BaseException | None


def run_script(
    code: LoadedCode,
    planned: PlannedTrial,
    begun: Progress | None = None,
    between: Callable[[Progress], bool] | None = None,
    at_last: Callable[[Progress, EpochReport], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
    started: Callable[[int], None] | None = None,
) -> Iterator[EpochReport]:
    """One report for each that the function makes, then a last one without metrics, as nobody knows before which is
    the last. `begun`, `between` and `at_last` as for `train`; `started` is told the thread it runs in."""
    spec = planned.problem
    if not isinstance(spec, OwnProblem):
        raise ValueError(f"a script of the study's own code is needed, got {spec.name!r}")
    said: queue.Queue[Said | Ended] = queue.Queue()
    with tempfile.TemporaryDirectory(prefix=f"{planned.id}-", ignore_cleanup_errors=True) as folder:
        metrics = [metric.name for metric in spec.described.metrics]
        trial = Trial(planned.seed, spec.values(), Path(folder), metrics, _saved_in(begun), said.put, clock)
        work = (code.script(spec), trial, said, spec)
        thread = threading.Thread(target=_run, args=work, name=spec.name, daemon=True)
        thread.start()
        if started and thread.ident is not None:
            started(thread.ident)
        try:
            yield from _reports(said, trial, code, planned, between, at_last)
        finally:
            trial.stop()
            thread.join(timeout=PATIENCE)
            if thread.is_alive():
                log.warning("%s goes on though it was told to stop: look at trial.should_stop", spec.name)


def _reports(
    said: queue.Queue[Said | Ended],
    trial: Trial,
    code: LoadedCode,
    planned: PlannedTrial,
    between: Callable[[Progress], bool] | None,
    at_last: Callable[[Progress, EpochReport], None] | None,
) -> Iterator[EpochReport]:
    epoch = trial.saved_at.epoch
    while isinstance(each := said.get(), Said):
        epoch = each.epoch
        metrics: Metrics = {EPOCH: epoch, SECONDS: each.seconds, **each.metrics}
        yield EpochReport(epoch=epoch, metrics={planned.id: metrics}, failures={}, final=False)
        if between and between(_progress(trial)):
            return
        trial.go_on()
    if each.error is None and not trial.reported:
        failure = f"{planned.problem.name} ended without a report: it has to call trial.report"
    else:
        failure = explained(each.error, code.folder).message if each.error else ""
    if failure:
        log.warning("trial %s failed: %s", planned.id, failure)
    else:
        log.info("%s ended after %s s", planned.problem.name, number(trial.seconds))
    failures = {planned.id: failure} if failure else {}
    last = EpochReport(epoch=epoch, metrics={}, failures=failures, final=True)
    if at_last and not failure:
        at_last(_progress(trial), last)
    yield last


def _run(function: Trainable, trial: Trial, said: queue.Queue[Said | Ended], spec: OwnProblem) -> None:
    """In the thread: whatever ends the function is told, also what is no Exception."""
    error: BaseException | None = None
    try:
        with seeded(trial.seed):
            function(trial, **spec.values())
    except Stopped:
        return
    except BaseException as raised:  # noqa: BLE001 - sys.exit too ends a trial, not the process
        error = raised
    said.put(Ended(error))


def _progress(trial: Trial) -> Progress:
    """As of the last save: what came after it is done again."""
    saved = trial.saved_at
    return Progress(saved.epoch, saved.seconds, (), lambda: _state(saved))


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
