"""A whole study with a Tune that is played: what it is asked for, what the service and the searches are told."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import ray

from service.contract.study.expansion import expand
from service.contract.study.parsing import check_study
from service.contract.study.study import Resources, Study
from service.contract.wire.epoch_report import EpochReport
from tests.planned import planned
from workers.on_ray import driver
from workers.on_ray.cluster import connected
from workers.on_ray.searcher import CohortSearcher
from workers.on_ray.trainable import REPORT, members_of, train_cohort
from workers.planning.begun import Begun
from workers.planning.past import Past
from workers.planning.work import Outcome, Work

GRID = {"name": "grid", "weighting": {"name": "fixed", "beta": {"grid": [0.1, 0.2, 0.3, 0.4]}}}
TUNED: dict[str, Any] = {
    "name": "tuned",
    "weighting": {"name": "fixed", "beta": {"range": {"from": 0.1, "to": 1.0}}},
    "search": {"name": "optuna", "sampler": "random", "trials": 4, "batch": 2},
}
REACHED = {"validation_i_xz_bits": 9.0, "validation_i_zy_bits": 3.0}


class Reporter:
    """Keeps the ends of trials; `pause_at` is after how many of them it hears of a pause."""

    token = None

    def __init__(self, pause_at: int | None = None) -> None:
        self.ended, self.paused = threading.Event(), threading.Event()
        self.finished: list[str] = []
        self._pause_at = pause_at

    def trial_finished(self, trial: str, lines: Any, missing: str | None) -> None:
        self.finished.append(trial)
        if len(self.finished) == self._pause_at:
            self.paused.set()

    def report(self, *said: Any) -> None:
        pass


class Tune:
    """Runs cohorts one after the other, each with one report; `most` is how many it gets to, `leaves` which of them
    leaves because the study is paused."""

    def __init__(self, most: int = 99) -> None:
        self.most, self.cohorts = most, 0
        self.leaves: int | None = None
        self.fit_together = 99
        self.handed_out: list[str] = []
        self.trainable: Any = None
        self.tune_config: Any = None
        self.run_config: Any = None

    def tuner(self, trainable: Any, tune_config: Any, run_config: Any) -> Tune:
        self.trainable, self.tune_config, self.run_config = trainable, tune_config, run_config
        return self

    def fit(self) -> None:
        searcher, (recorder,) = self.tune_config.search_alg, self.run_config.callbacks
        while not self.run_config.stop.stop_all() and self.cohorts < self.most:
            name = f"c{self.cohorts}"
            if (config := searcher.suggest(name)) in (None, CohortSearcher.FINISHED):
                return
            if len(members_of(config)) > self.fit_together:
                large = EpochReport(epoch=0, metrics={}, failures={}, final=False, most=self.fit_together)
                trial = SimpleNamespace(config=config, trial_id=name, run_metadata=SimpleNamespace(num_failures=0))
                recorder.on_trial_result(1, [], trial, {REPORT: large.model_dump_json()})
                searcher.on_trial_complete(name)
                self.cohorts += 1
                continue
            self.handed_out += members_of(config)
            leaves = self.cohorts == self.leaves
            report = EpochReport(
                epoch=1,
                metrics=dict.fromkeys(members_of(config), REACHED),
                failures={},
                final=not leaves,
                leaves=leaves,
            ).model_dump_json()
            deaths = SimpleNamespace(num_failures=0)
            trial = SimpleNamespace(config=config, trial_id=name, run_metadata=deaths)
            recorder.on_trial_result(1, [], trial, {REPORT: report})
            searcher.on_trial_complete(name)
            self.cohorts += 1


@pytest.fixture
def tune(monkeypatch: pytest.MonkeyPatch) -> Tune:
    played = Tune()
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": 4.0, "GPU": 2.0})
    monkeypatch.setattr(driver, "Tuner", played.tuner)
    monkeypatch.setattr("ray.tune.with_parameters", lambda function, plan: (function, plan))
    monkeypatch.setattr("ray.tune.with_resources", lambda trainable, resources: (*trainable, resources))
    return played


def study(*arms: dict[str, Any], **more: Any) -> Study:
    return check_study({"name": "s", "arms": list(arms or [GRID]), **more})


def run(
    checked: Study,
    deadline: float | None = None,
    past: Mapping[str, Past] | None = None,
    skip: int = 0,
    over: bool = False,
) -> tuple[str | None, list[str]]:
    """The reason, and the trials that finished; the first `skip` are not left to train."""
    reporter: Any = Reporter()
    if over:
        reporter.ended.set()
    work = Work(checked, expand(checked)[skip:], dict(past or {}), deadline, Counter(), [], {}, {}, frozenset())
    outcome = driver.run("s1", work, reporter, Path("/scratch"))
    assert not outcome.paused
    return outcome.reason, reporter.finished


def test_every_trial_of_grids_and_searches_is_trained_once(tune: Tune) -> None:
    checked = study(GRID, TUNED)
    reason, finished = run(checked)
    assert reason is None and sorted(finished) == sorted(trial.id for trial in expand(checked))


def test_a_search_is_told_the_objectives_that_its_trials_reached(tune: Tune, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[Any, ...]] = []
    monkeypatch.setattr("workers.planning.suggest.Suggester.tell", lambda self, *end: told.append(end))
    checked = study({**TUNED, "search": {**TUNED["search"], "trials": 1}})
    run(checked)
    assert told == [(expand(checked)[0].id, [9.0, 3.0], ())]


def test_what_the_log_has_of_a_search_is_not_suggested_anew(tune: Tune) -> None:
    checked = study(TUNED)
    first, *others = (trial.id for trial in expand(checked))
    past = {first: Past({"weighting.beta": 0.5}, over=True, objectives=[9.0, 3.0])}
    assert sorted(run(checked, past=past, skip=1)[1]) == sorted(tune.handed_out) == sorted(others)


def test_nothing_left_to_train_needs_no_tune(tune: Tune) -> None:
    assert run(study(), skip=4) == (None, []) and tune.run_config is None


def test_a_study_out_of_time_says_how_much_was_not_trained(tune: Tune, monkeypatch: pytest.MonkeyPatch) -> None:
    tune.most = 3
    clock = iter([99.0, 99.5, 100.0])
    monkeypatch.setattr(time, "time", lambda: next(clock))
    limited = study(limits={"seconds": 2.5}, resources={"cohort": 1})
    reason, finished = run(limited, deadline=100.0)
    assert reason == "time limit of 2.5 s reached, 2 of 4 trials not trained" and len(finished) == 2


ENOUGH = {"gain": "20 %", "patience": 1}


def test_a_search_that_has_enough_ends_the_study_and_says_what_another_batch_would_gain(tune: Tune) -> None:
    """All trials reach the same, so that nothing is gained after the first."""
    long = {**TUNED, "search": {**TUNED["search"], "trials": 40}}
    limited = study(long, limits=ENOUGH)
    reason, finished = run(limited)
    assert reason is not None and 6 <= len(finished) < 40
    assert reason.startswith(f"tuned: stopped after {len(finished)} of 40 trials: another batch would gain at most ")
    beside = study(long, GRID, limits=ENOUGH)
    reason, both = run(beside)
    assert reason is not None and reason.startswith("tuned: stopped after ") and len(both) == len(finished) + 4


def test_a_driver_that_finds_enough_in_the_log_trains_nothing_and_says_the_same(tune: Tune) -> None:
    limited = study({**TUNED, "search": {**TUNED["search"], "trials": 40}}, limits=ENOUGH)
    reason, finished = run(limited)
    past = {trial: Past({"weighting.beta": 0.5}, over=True, objectives=[9.0, 3.0]) for trial in finished}
    tune.handed_out.clear()
    assert run(limited, past=past, skip=len(finished)) == (reason, []) and tune.handed_out == []


def test_an_arm_whose_seconds_are_spent_ends_and_the_rest_is_not_left_for_a_resume(tune: Tune) -> None:
    limited = study(GRID, {**GRID, "name": "other"}, limits={"training_seconds": 5}, resources={"cohort": 1})
    work = Work(limited, expand(limited)[1:], {}, None, Counter(), [], {}, {}, frozenset())
    reporter: Any = Reporter()
    outcome = driver.run("s1", work._replace(spent={expand(limited)[0].id: 5.0}), reporter, Path("/scratch"))
    words = "grid: its 5 s of training are spent, 3 of 4 trials not trained to the end"
    left = tuple(sorted(trial.id for trial in work.trials if trial.arm == "grid"))
    assert outcome == Outcome(words, spared=left)


def test_the_trials_of_a_search_count_before_they_are_asked_for(tune: Tune, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that an earlier run has trained: the sentence is about the study."""
    limited = study(GRID, TUNED, limits={"seconds": 2.5}, resources={"cohort": 1})
    for skip, words in ((0, "7 of 8"), (3, "4 of 8")):
        clock = iter([99.0, 100.0])
        monkeypatch.setattr(time, "time", lambda clock=clock: next(clock))
        reason, finished = run(limited, deadline=100.0, skip=skip)
        assert reason == f"time limit of 2.5 s reached, {words} trials not trained" and len(finished) == 1


def test_a_study_whose_last_trial_ends_with_its_time_is_complete(tune: Tune, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([99.0, 100.0])
    monkeypatch.setattr(time, "time", lambda: next(clock))
    limited = study(limits={"seconds": 2.5}, resources={"concurrency": 1})
    assert run(limited, deadline=100.0)[0] is None


def test_a_study_that_the_service_has_ended_trains_no_more_and_is_not_out_of_time(tune: Tune) -> None:
    assert run(study(), over=True) == (None, [])


def paused_at(finished: int | None, deadline: float | None = None, **more: Any) -> tuple[Outcome, list[str]]:
    """How a study of four trials, one after the other, ends of which so many finish before it hears of a pause."""
    checked = study(resources={"concurrency": 1, "cohort": 1}, **more)
    reporter: Any = Reporter(finished)
    work = Work(checked, expand(checked), {}, deadline, Counter(), [], {}, {}, frozenset())
    return driver.run("s1", work, reporter, Path("/scratch")), reporter.finished


def test_a_study_whose_last_trial_ends_while_a_pause_is_asked_for_is_complete(tune: Tune) -> None:
    outcome, finished = paused_at(4)
    assert outcome == Outcome() and len(finished) == 4


@pytest.mark.parametrize("before", [1, 3])
def test_a_study_that_hears_of_a_pause_hands_out_no_more_and_counts_as_paused(tune: Tune, before: int) -> None:
    outcome, finished = paused_at(before)
    assert outcome == Outcome(paused=True) and len(finished) == len(tune.handed_out) == before


def test_a_cohort_that_left_because_of_a_pause_is_enough_for_the_study_to_count_as_paused(tune: Tune) -> None:
    """Its process may hear of the pause before the driver does."""
    tune.leaves = 1
    outcome, finished = paused_at(None)
    assert outcome == Outcome(paused=True) and (len(finished), len(tune.handed_out)) == (1, 2)


def test_what_is_left_without_a_pause_is_not_paused(tune: Tune) -> None:
    tune.most = 2
    outcome, finished = paused_at(None)
    assert outcome == Outcome() and len(finished) == 2


def test_a_study_out_of_time_is_not_paused_whatever_was_asked_for(tune: Tune, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([99.0, 100.0])
    monkeypatch.setattr(time, "time", lambda: next(clock))
    outcome, _ = paused_at(1, deadline=100.0, limits={"seconds": 2.5})
    assert outcome == Outcome("time limit of 2.5 s reached, 3 of 4 trials not trained", late=3)


def test_cohorts_have_the_resources_of_the_study_and_are_tried_again_when_they_die(tune: Tune) -> None:
    run(study(resources={"cpus": 2, "gpus": 0.5}))
    assert tune.trainable[0] is train_cohort and tune.trainable[2] == {"cpu": 2, "gpu": 0.5}
    assert tune.tune_config.num_samples == -1 and tune.tune_config.reuse_actors
    assert tune.tune_config.max_concurrent_trials == 4, "two slots: those that run, and those that wait"
    assert tune.run_config.failure_config.max_failures == 2 and tune.run_config.storage_path == "/scratch"
    assert tune.tune_config.search_alg.set_max_concurrency(4), "slots are counted by us, not by Tune"
    assert tune.cohorts == 2, "four trials on two slots"
    assert os.environ["TUNE_FORCE_TRIAL_CLEANUP_S"] == "3", "cancelling does not wait for a long epoch"


@pytest.mark.parametrize(("cohort", "count"), [(None, 1), (1, 4), (3, 2)])
def test_a_cohort_has_no_more_members_than_the_study_wants(tune: Tune, cohort: int | None, count: int) -> None:
    run(study(resources={"concurrency": 1, "cohort": cohort}))
    assert tune.cohorts == count


def test_workers_are_told_all_that_trials_share(tune: Tune) -> None:
    checked = study(GRID, seeds=[3, 4], evaluation={"latent_map": {"points": 20}}, resources={"cpus": 2})
    run(checked)
    plan = tune.trainable[1]
    assert plan.trials == {trial.id: trial for trial in expand(checked)}
    assert (plan.study_id, plan.cpus, plan.mapped_seeds) == ("s1", 2, tuple(checked.mapped_seeds))
    assert plan.mapped_seeds and (plan.data, plan.evaluation) == (checked.data, checked.evaluation)


def test_the_loss_of_ray_is_a_lost_connection_and_other_errors_stay_what_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ray, "init", lambda **settings: None)
    with pytest.raises(ConnectionError, match=r"Ray: .*the node is gone"), connected():
        raise ray.exceptions.RaySystemError("the node is gone")
    with pytest.raises(ValueError, match="no study"), connected():
        raise ValueError("no study")


def test_members_that_do_not_fit_together_are_trained_in_smaller_cohorts(tune: Tune) -> None:
    tune.fit_together = 2
    checked = study(GRID, {**TUNED, "search": {**TUNED["search"], "batch": 4}}, resources={"concurrency": 1})
    reason, finished = run(checked)
    assert reason is None and sorted(finished) == sorted(trial.id for trial in expand(checked))


def node(alive: bool = True, **resources: float) -> dict[str, Any]:
    return {"Alive": alive, "Resources": resources}


@pytest.mark.parametrize(
    ("resources", "nodes", "processes"),
    [
        ({}, [node(CPU=2.0)], 2),
        ({}, [node(CPU=2.0), node(CPU=8.0), node(False, CPU=64.0)], 8),
        ({"cpus": 3}, [node(CPU=8.0), node(CPU=2.0)], 2),
        ({"concurrency": 1}, [node(CPU=8.0)], 1),
        ({"gpus": 0.5}, [node(CPU=8.0, GPU=1.0)], 2),
        ({"cpus": 4}, [node(CPU=2.0)], 1),
    ],
)
def test_the_processes_of_a_machine_are_counted_by_what_they_ask_for(
    resources: dict[str, Any], nodes: list[dict[str, Any]], processes: int
) -> None:
    assert driver.at_once(Resources.model_validate(resources), nodes) == processes


def test_what_was_started_before_goes_on_after_its_saved_epoch_or_starts_over() -> None:
    checked = study(seeds=[0, 1, 2])
    saved, unsaved, fresh = planned(checked)[:3]
    started = frozenset({saved.id, unsaved.id})
    begun = [Begun([saved, fresh], 7, frozenset({fresh.id}))]
    work = Work(checked, expand(checked), {}, None, Counter(), begun, {}, {}, started)
    assert driver._places(work) == {saved.id: 7, unsaved.id: 0}, "the log is told of both, and of nobody else"
