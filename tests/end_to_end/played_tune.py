"""A study driven and trained in this process: its driver, its trials, real HTTP; Ray alone is played."""

from __future__ import annotations

import os
from contextlib import nullcontext, suppress
from types import SimpleNamespace
from typing import Any

import pytest
import ray
import torch

from frontends.client import Study
from tests.processes import Running
from workers import run_study
from workers.on_ray import cluster, driver
from workers.on_ray.searcher import CohortSearcher
from workers.on_ray.trainable import train_cohort


class Stopped(BaseException):
    """How a cohort ends that Tune stops: no Exception, so that no cohort takes it for its own failure."""


class Tune:
    """Trains cohorts one after the other."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        self._plan: Any = None
        self._searcher: Any = None
        self._recorder: Any = None
        self._stops: Any = None

    def tuner(self, plan: Any, tune_config: Any, run_config: Any) -> Tune:
        self._plan, self._searcher, (self._recorder,) = plan, tune_config.search_alg, run_config.callbacks
        self._stops = run_config.stop
        return self

    def fit(self) -> None:
        number = 0
        while (config := self._searcher.suggest(f"c{number}")) not in (None, CohortSearcher.FINISHED):
            deaths = SimpleNamespace(num_failures=0)
            trial = SimpleNamespace(config=config, trial_id=f"c{number}", last_result={}, run_metadata=deaths)
            self._recorder.on_trial_start(1, [], trial)
            self._patch.setattr("ray.tune.report", self._reporting(trial))
            with suppress(Stopped):
                train_cohort(config, self._plan)
            self._searcher.on_trial_complete(trial.trial_id)
            number += 1

    def _reporting(self, trial: Any) -> Any:
        def report(result: Any) -> None:
            stopped = self._stops(trial.trial_id, result)
            self._recorder.on_trial_result(1, [], trial, result)
            if stopped:
                raise Stopped

        return report


def trained_here(running: Running, study: Study, job: str | None = None) -> None:
    """From its start to its end, which must be a good one; `job` is another than its first driver's."""
    assert driven_here(running, study, job=job) == run_study.DONE


def driven_here(
    running: Running, study: Study, tune: type[Tune] = Tune, attempt: int = 1, job: str | None = None
) -> int:
    """By a driver, with a Tune of this kind; what its process ends with."""
    job = job or study.id
    started = {"events": [{"uid": f"started:{job}:{attempt}", "kind": "study_started", "job": job}]}
    assert running.post(f"/api/studies/{study.id}/reports", json=started).is_success
    threads = torch.get_num_threads()
    with pytest.MonkeyPatch.context() as patch:
        played = tune(patch)
        settings = {"URL": running.url, "JOB": job, "DATA": str(running.home / "data")}
        patch.setattr(os, "environ", {**os.environ, **{f"PARETOSCOPE_{key}": text for key, text in settings.items()}})
        patch.setattr(ray, "cluster_resources", lambda: {"CPU": 1.0})
        patch.setattr(ray, "nodes", lambda: [{"Alive": True, "Resources": {"CPU": 1.0}}])
        patch.setattr(ray, "get_gpu_ids", list)
        patch.setattr("ray.tune.with_parameters", lambda function, plan: plan)
        patch.setattr("ray.tune.with_resources", lambda plan, resources: plan)
        patch.setattr(driver, "Tuner", played.tuner)
        patch.setattr(cluster, "connected", nullcontext)
        patch.setattr(run_study, "_on_sigterm", lambda *_: None)
        try:
            return run_study.drive(study.id, running.url, running.token)
        finally:
            torch.set_num_threads(threads)
