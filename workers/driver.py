"""A study on Ray: cohorts as Ray Tune trials, their reports to the service."""

from __future__ import annotations

import functools
import json
import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import floor, inf
from pathlib import Path
from typing import Any, ParamSpec

import ray
from ray import tune
from ray.tune import Callback, FailureConfig, RunConfig, Stopper, TuneConfig, Tuner
from ray.tune.experiment import Trial
from ray.tune.result import HOSTNAME, NODE_IP

from service.contract.expansion import PlannedTrial, searched_keys
from service.contract.outcomes import objective_values
from service.contract.study import Resources, Study
from workers.reporting import Reporter
from workers.searches.cohort_searcher import CohortSearcher
from workers.searches.past import Past
from workers.searches.supply import Supply, searches_of
from workers.trainable import REPORT, Plan, members_of, train_cohort

log = logging.getLogger(__name__)

P = ParamSpec("P")
Metrics = dict[str, float | None]

WORKER_DEATHS = 2  # a cohort is tried again when its process died, not when it raised

# Our log is the truth: Tune's own files, tables and snapshots would only cost time.
TUNE_ENVIRONMENT = {
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",
    "TUNE_DISABLE_AUTO_INIT": "1",
    "TUNE_GLOBAL_CHECKPOINT_S": "86400",
    "TUNE_FORCE_TRIAL_CLEANUP_S": "3",  # a worker in a long epoch is not waited for when the study stops
    "TUNE_PRINT_ALL_TRIAL_ERRORS": "0",
    "RAY_CHDIR_TO_TRIAL_DIR": "0",
    "RAY_AIR_NEW_OUTPUT": "0",  # it prints a table even at verbose=0
}


class NotEnough(ValueError):
    """The cluster cannot run a single cohort of this study."""


def slots_of(resources: Resources, cluster: dict[str, float]) -> int:
    """How many cohorts run at once on a cluster with these resources."""
    fits: float = resources.concurrency or inf
    for name, key, each in (("cpus", "CPU", resources.cpus), ("gpus", "GPU", resources.gpus)):
        there = cluster.get(key, 0.0)
        if each > there:
            raise NotEnough(f"resources.{name} = {each:g}, but the cluster has {there:g}")
        if each:
            fits = min(fits, floor(there / each))
    return int(fits)


def _never_raises(method: Callable[P, None]) -> Callable[P, None]:
    """Tune aborts the whole study when a callback raises."""

    @functools.wraps(method)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            method(*args, **kwargs)
        except Exception:
            log.exception("%s failed", method.__name__)

    return guarded


class _NotSaved:
    """Tune pickles a run in order to restore it. We never do, and a queue with a thread cannot be pickled."""

    def __getstate__(self) -> dict[str, Any]:
        return {}


class Recorder(_NotSaved, Callback):
    """Turns what Tune tells about cohorts into events about trials."""

    def __init__(self, trials: Iterable[str], reporter: Reporter, ended: Callable[[str, Metrics | None], None]) -> None:
        self.open = set(trials)
        self._reporter = reporter
        self._ended = ended  # told of each trial once: its last metrics, or none when it failed
        self._metrics: dict[str, Metrics] = {}

    @_never_raises
    def on_trial_start(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        host = _host(trial)
        for member, suggested in members_of(trial.config).items():
            self._reporter.trial_started(member, host, suggested)

    @_never_raises
    def on_trial_result(
        self, iteration: int, trials: list[Trial], trial: Trial, result: dict[str, Any], **info: Any
    ) -> None:
        if REPORT in result:
            self.record(members_of(trial.config), json.loads(result[REPORT]))

    @_never_raises
    def on_trial_error(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        self.fail(members_of(trial.config), _last_line(trial))

    def record(self, members: Iterable[str], report: dict[str, Any]) -> None:
        """What the cohort logged goes to each member once, with the first event that the report makes of it."""
        lines = dict.fromkeys(members, report["log"])
        for member, metrics in report["metrics"].items():
            self._metrics[member] = {**self._metrics.get(member, {}), **metrics}
            self._reporter.report(member, report["epoch"], metrics, lines.pop(member, []))
        for member, reason in report["failures"].items():
            self.fail([member], reason, lines.pop(member, []))
        if report["final"]:
            for member in members:
                if member in self.open:
                    self.open.remove(member)
                    self._reporter.trial_finished(member, lines.pop(member, []))
                    self._ended(member, self._metrics.pop(member, {}))

    def fail(self, members: Iterable[str], reason: str, lines: Sequence[str] = ()) -> None:
        for member in members:
            if member in self.open:
                self.open.remove(member)
                self._reporter.trial_failed(member, reason, lines)
                self._metrics.pop(member, None)
                self._ended(member, None)


def _host(trial: Trial) -> str | None:
    """Name and address of the node the trial runs on; none when its process has died at once."""
    said = trial.last_result  # before the first report: what its process told about itself
    return f"{said[HOSTNAME]}/{said[NODE_IP]}" if NODE_IP in said else None


def _last_line(trial: Trial) -> str:
    """Tune writes a traceback to a file; its last line says what happened, Ray's advice on it left out."""
    lines = Path(trial.error_file).read_text().split("\n") if trial.error_file else []
    said = next((line.strip() for line in reversed(lines) if line.strip()), "the worker process died")
    return f"tried {WORKER_DEATHS + 1} times: {said.partition(' Some common causes')[0]}"


class _Until(_NotSaved, Stopper):
    """Ends the study at its time limit, or when the service wants no more reports."""

    def __init__(self, deadline: float | None, reporter: Reporter) -> None:
        self._deadline = inf if deadline is None else deadline
        self._reporter = reporter
        self.out_of_time = False

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        return False

    def stop_all(self) -> bool:
        self.out_of_time = self.out_of_time or time.time() >= self._deadline
        return self.out_of_time or self._reporter.ended.is_set()


def run(
    study_id: str,
    study: Study,
    trials: Sequence[PlannedTrial],
    past: Mapping[str, Past],
    reporter: Reporter,
    deadline: float | None,
    scratch: Path,
) -> str | None:
    """Train the trials; the reason when some were left out. Needs a connected Ray and a folder for Tune's files."""
    resources = study.resources
    slots = slots_of(resources, ray.cluster_resources())  # type: ignore[no-untyped-call]
    log.info("%d trials on %d slots", len(trials), slots)
    if not trials:
        return None
    keys = searched_keys(study)
    planned = [trial for trial in trials if trial.arm not in keys]
    supply = Supply(planned, searches_of(study, past), slots, resources.cohort)

    def ended(trial: str, metrics: Metrics | None) -> None:
        supply.tell(trial, None if metrics is None else objective_values(metrics, study.objectives))

    os.environ.update(TUNE_ENVIRONMENT)
    logging.getLogger("ray.tune").setLevel(logging.ERROR)  # it misses the files we told it not to write
    by_id, mapped = {trial.id: trial for trial in trials}, tuple(study.mapped_seeds)
    shared = Plan(by_id, study.data, study.evaluation, resources.cpus, study_id, mapped)
    trainable = tune.with_resources(
        tune.with_parameters(train_cohort, plan=shared), {"cpu": resources.cpus, "gpu": resources.gpus}
    )
    recorder, until = Recorder((trial.id for trial in trials), reporter, ended), _Until(deadline, reporter)
    Tuner(
        trainable,
        tune_config=TuneConfig(
            search_alg=CohortSearcher(supply, slots, keys),
            num_samples=-1,  # until the searcher has no more
            max_concurrent_trials=2 * slots,  # those that end, and those that wait for their processes
            reuse_actors=True,
        ),
        run_config=RunConfig(
            name="study",
            storage_path=str(scratch),
            callbacks=[recorder],
            stop=until,
            failure_config=FailureConfig(max_failures=WORKER_DEATHS),
            verbose=0,
        ),
    ).fit()
    left = len(recorder.open)
    if until.out_of_time and left:
        return f"time limit of {study.limits.seconds:g} s reached, {left} of {len(trials)} trials not trained"
    return None
