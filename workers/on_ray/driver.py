"""A study on Ray: cohorts as Ray Tune trials, their reports to the service."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable, Mapping
from math import floor, inf
from pathlib import Path
from typing import Any

import ray
from ray import tune
from ray.tune import FailureConfig, RunConfig, Stopper, TuneConfig, Tuner

from service.contract.study.expansion import expand, searched_keys
from service.contract.study.study import Resources
from service.contract.wire.events import Metrics
from service.contract.wording.numbers import setting
from workers.on_ray.recorder import WORKER_DEATHS, NotSaved, Recorder
from workers.on_ray.searcher import CohortSearcher
from workers.on_ray.trainable import report_of, train_cohort
from workers.planning.budget import Budget, budget_of
from workers.planning.ending import ended_early
from workers.planning.past import reached_by
from workers.planning.plan import Plan
from workers.planning.rungs import Rungs
from workers.planning.supply import Supply, planned_of, searches_of
from workers.planning.work import Outcome, Work, all_over, out_of_time
from workers.sending.reporter import Reporter

log = logging.getLogger(__name__)

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


GRACE_SECONDS = 4.0  # after the time limit, in which code that hangs is told where


class NotEnough(ValueError):
    """The cluster cannot run a single cohort of this study."""


def slots_of(resources: Resources, cluster: dict[str, float]) -> int:
    """How many cohorts run at once on a cluster with these resources."""
    fits: float = resources.concurrency or inf
    for name, key, each in (("cpus", "CPU", resources.cpus), ("gpus", "GPU", resources.gpus)):
        there = cluster.get(key, 0.0)
        if each > there:
            raise NotEnough(f"resources.{name} = {setting(each)}, but the cluster has {setting(there)}")
        if each:
            fits = min(fits, floor(there / each))
    return int(fits)


class _Until(NotSaved, Stopper):
    """Ends the study at its time limit or when no more reports are wanted, a cohort when its arm's budget is spent."""

    def __init__(self, deadline: float | None, reporter: Reporter, budget: Budget | None = None) -> None:
        self._deadline = inf if deadline is None else deadline
        self._reporter, self._budget = reporter, budget
        self.out_of_time = False

    def __call__(self, trial_id: str, result: Mapping[str, object]) -> bool:
        """Whether a cohort stops with this report: its arm has spent its training seconds."""
        report = None if self._budget is None else report_of(result)
        return self._budget is not None and report is not None and self._budget.stops(report)

    def stop_all(self) -> bool:
        self.out_of_time = self.out_of_time or time.time() >= self._deadline
        return self.out_of_time or self._reporter.ended.is_set()


def at_once(resources: Resources, nodes: Iterable[Mapping[str, Any]]) -> int:
    """How many cohorts of a study may run together on one machine, at most."""
    fits = [1]
    for node in nodes:
        try:
            fits.append(slots_of(resources, node["Resources"]) if node["Alive"] else 1)
        except NotEnough:
            continue
    return max(fits)


def run(study_id: str, work: Work, reporter: Reporter, scratch: Path) -> Outcome:
    """Train the trials. Needs a connected Ray and a folder for Tune's files."""
    study, trials, past = work.study, work.trials, work.past
    resources = study.resources
    slots = slots_of(resources, ray.cluster_resources())
    log.info("%d trials on %d slots", len(trials), slots)
    if not trials:
        return Outcome()
    keys = searched_keys(study)
    searches = searches_of(study, past)
    budget = budget_of(study, work.spent)
    rungs = Rungs(study, expand(study), work.known) if study.stopping else None
    supply = Supply(planned_of(study, trials), searches, slots, resources.cohort, work.begun, rungs, budget)
    if supply.is_over:  # none of what is left is needed
        return all_over(ended_early(searches, {trial.id for trial in trials}, budget))

    def ended(trial: str, metrics: Metrics | None) -> None:
        supply.tell(trial, *reached_by(study, metrics))
        recorder.stop(supply.ended(trial, failed=metrics is None))

    os.environ.update(TUNE_ENVIRONMENT)
    logging.getLogger("ray.tune").setLevel(logging.ERROR)  # it misses the files we told it not to write
    by_id, mapped = {trial.id: trial for trial in expand(study)}, tuple(study.mapped_seeds)
    own = (study.code, work.deadline)
    shared = Plan(by_id, study.data, study.evaluation, resources.cpus, study_id, mapped, reporter.token, *own)
    shared = shared._replace(clocked=budget is not None)
    if study.code is not None:
        shared = shared._replace(processes=at_once(resources, ray.nodes()))
    if study.stopping:
        shared = shared._replace(at_rungs=study.evaluation_at_rungs)
    trainable = tune.with_resources(
        tune.with_parameters(train_cohort, plan=shared), {"cpu": resources.cpus, "gpu": resources.gpus}
    )
    grace = 0.0 if study.code is None else GRACE_SECONDS
    until = _Until(None if work.deadline is None else work.deadline + grace, reporter, budget)
    recorder = Recorder((trial.id for trial in trials), reporter, ended, _places(work))
    searcher = CohortSearcher(supply, slots, keys, lambda: recorder.paused or reporter.paused.is_set())
    recorder.said_all, recorder.cut, recorder.rested = searcher.has_said_all, searcher.cut, supply.rested
    recorder.stop(supply.decide())  # what a driver before this one had no time for
    Tuner(
        trainable,
        tune_config=TuneConfig(
            search_alg=searcher,
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
    end = ended_early(searches, recorder.open, budget)
    left = len(recorder.open.difference(end.spared))
    if until.out_of_time and left:
        return out_of_time(study, left, end)
    if left and (recorder.paused or reporter.paused.is_set()):
        return Outcome(paused=True)
    return all_over(end)


def _places(work: Work) -> dict[str, int]:
    """After which epoch trials that were started before go on: 0 where nothing was saved."""
    saved = {trial: begun.epoch for begun in work.begun for trial in begun.living}
    return {trial: saved.get(trial, 0) for trial in work.started}
