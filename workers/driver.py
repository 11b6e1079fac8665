"""A study on Ray: cohorts as Ray Tune trials, their reports to the service."""

from __future__ import annotations

import functools
import json
import logging
import os
import time
from collections.abc import Callable, Sequence
from math import floor, inf
from pathlib import Path
from typing import Any, ParamSpec

import ray
from ray import tune
from ray.tune import Callback, FailureConfig, RunConfig, Stopper, TuneConfig, Tuner
from ray.tune.experiment import Trial
from ray.tune.result import HOSTNAME, NODE_IP

from service.contract.expansion import PlannedTrial
from service.contract.study import Resources, Study
from workers.cohorts import plan
from workers.reporting import Reporter
from workers.trainable import REPORT, Plan, train_cohort

log = logging.getLogger(__name__)

P = ParamSpec("P")

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

    def __init__(self, cohorts: Sequence[Sequence[PlannedTrial]], reporter: Reporter) -> None:
        self._members = [[trial.id for trial in cohort] for cohort in cohorts]
        self._reporter = reporter
        self.open = {trial for members in self._members for trial in members}

    @_never_raises
    def on_trial_start(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        host = _host(trial)
        for member in self._of(trial):
            self._reporter.trial_started(member, host)

    @_never_raises
    def on_trial_result(
        self, iteration: int, trials: list[Trial], trial: Trial, result: dict[str, Any], **info: Any
    ) -> None:
        if REPORT in result:
            self.record(self._of(trial), json.loads(result[REPORT]))

    @_never_raises
    def on_trial_error(self, iteration: int, trials: list[Trial], trial: Trial, **info: Any) -> None:
        self.fail(self._of(trial), _last_line(trial))

    def record(self, members: list[str], report: dict[str, Any]) -> None:
        for member, metrics in report["metrics"].items():
            self._reporter.report(member, report["epoch"], metrics)
        for member, reason in report["failures"].items():
            self.fail([member], reason)
        if report["final"]:
            for member in members:
                if member in self.open:
                    self.open.remove(member)
                    self._reporter.trial_finished(member)

    def fail(self, members: list[str], reason: str) -> None:
        for member in members:
            if member in self.open:
                self.open.remove(member)
                self._reporter.trial_failed(member, reason)

    def _of(self, trial: Trial) -> list[str]:
        return self._members[trial.config["cohort"]]


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
    study: Study, trials: Sequence[PlannedTrial], reporter: Reporter, deadline: float | None, scratch: Path
) -> str | None:
    """Train the trials; the reason when some were left out. Needs a connected Ray and a folder for Tune's files."""
    resources = study.resources
    slots = slots_of(resources, ray.cluster_resources())  # type: ignore[no-untyped-call]
    cohorts = plan(trials, slots, resources.cohort)
    log.info("%d trials in %d cohorts on %d slots", len(trials), len(cohorts), slots)
    if not cohorts:
        return None
    os.environ.update(TUNE_ENVIRONMENT)
    logging.getLogger("ray.tune").setLevel(logging.ERROR)  # it misses the files we told it not to write
    shared = Plan(cohorts, study.data, study.evaluation, resources.cpus)
    trainable = tune.with_resources(
        tune.with_parameters(train_cohort, plan=shared), {"cpu": resources.cpus, "gpu": resources.gpus}
    )
    recorder, until = Recorder(cohorts, reporter), _Until(deadline, reporter)
    Tuner(
        trainable,
        param_space={"cohort": tune.grid_search(list(range(len(cohorts))))},
        tune_config=TuneConfig(max_concurrent_trials=slots, reuse_actors=True),
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
