"""Searches beside a grid and alone: real HTTP, real training, one of them on a real Ray."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from frontends.client import Client
from tests.end_to_end.killed import assert_same, killed_and_followed, undisturbed
from tests.end_to_end.played_tune import trained_here
from tests.end_to_end.test_studies import driver_of
from tests.processes import Running, until

pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def client(cluster: Running) -> Iterator[Client]:
    with Client(cluster.url, cluster.token) as client:
        yield client


@pytest.fixture
def searching(spec: dict[str, Any]) -> dict[str, Any]:
    """A β grid and a search over β, learning rate and latent size, on two seeds."""
    tuned = {
        "name": "tuned",
        "weighting": {"name": "fixed", "beta": {"range": {"from": 1e-4, "to": 0.1, "scale": "log"}}},
        "model": {"latent": {"choice": [4, 8]}},
        "training": {"learning_rate": {"range": {"from": 1e-3, "to": 1e-1, "scale": "log"}}},
        "search": {"name": "optuna", "sampler": "tpe", "trials": 12, "batch": 2},
    }
    return {**spec, "name": "searching", "arms": [spec["arms"][0], tuned]}


SEARCHED = {"weighting.beta", "model.latent", "training.learning_rate"}


def test_a_search_beside_a_grid_whose_driver_is_killed_keeps_what_it_knew_and_ends_with_the_asked_trials(
    cluster: Running, client: Client, searching: dict[str, Any]
) -> None:
    study = client.submit({**searching, "training": {"epochs": 100, "batch_size": 256, "learning_rate": 0.03}})
    until(lambda: len(study.trials(arm="tuned", state="finished")) >= 4, "the first batches", 120)
    before = {
        trial["id"]: trial["config"] for trial in study.trials(arm="tuned") if "weighting.beta" in trial["config"]
    }
    assert len(before) < 12
    for pid in driver_of(cluster, study):
        os.kill(pid, signal.SIGKILL)
    study.wait(timeout=200)
    kinds = [event["kind"] for event in study.events()]
    assert (kinds.count("study_started"), kinds.count("trial_finished")) == (2, 16)
    tuned = study.trials(arm="tuned")
    assert len(tuned) == 12 and [trial["seed"] for trial in tuned] == [0, 1] * 6
    assert before.items() <= {trial["id"]: trial["config"] for trial in tuned}.items()
    for trial in tuned:
        assert trial["config"].keys() >= SEARCHED
        assert trial["metrics"]["weight_info"] == pytest.approx(trial["config"]["weighting.beta"])
    assert {trial["config"]["model.latent"] for trial in tuned} == {4, 8}
    fronts = {arm["name"]: arm["points"] for arm in study.front()["arms"]}
    assert fronts["manual β"] and fronts["tuned"]


@pytest.fixture
def filling(spec: dict[str, Any]) -> dict[str, Any]:
    """A toy whose convex front is filled with two seeds until no gap is above 0.3, with more trials than that takes."""
    filled = {
        "name": "filled",
        "problem": {"name": "toy", "front": "convex"},
        "weighting": {"name": "fixed", "beta": {"range": {"from": 1e-2, "to": 1e2, "scale": "log"}}},
        "search": {"name": "fill", "trials": 40, "tolerance": 0.3},
    }
    toy = {"name": "filling", "data": {"name": "toy"}, "model": {"name": "mlp", "latent": 4}, "seeds": [0, 1]}
    return {**toy, "training": {"epochs": 10, "learning_rate": 0.03}, "arms": [filled]}


@pytest.mark.filterwarnings("default")
def test_a_front_that_is_filled_before_the_budget_ends_the_study(service: Running, filling: dict[str, Any]) -> None:
    """Ray alone is played: how it hands out cohorts is the same for every search."""
    with Client(service.url) as client:
        study = client.submit(filling)
        trained_here(service, study)
        answer, trials = study.read(), study.trials()
    counts = answer["counts"]
    assert answer["state"] == "finished" and answer["progress"] == 1.0
    assert counts["planned"] == counts["finished"] == len(trials) < 40
    assert answer["reason"] == f"filled: no gap above 0.3 left after {len(trials)} of 40 trials"
    places = [trial["config"]["weighting.beta"] for trial in trials]
    assert sorted(places[::2]) == sorted(places[1::2]) and len(set(places)) == len(places) / 2


STEPS = {"range": {"from": 1e-3, "to": 1e-1, "scale": "log"}}


def suggested(service: Running, study: str) -> dict[str, tuple[float, float]]:
    trials = service.get(f"/api/studies/{study}/trials", limit=100).json()["trials"]
    keys = ("weighting.beta", "training.learning_rate")
    return {trial["id"]: (trial["config"][keys[0]], trial["config"][keys[1]]) for trial in trials}


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("sampler", ["tpe", "gp", "nsga2", "nsga3", "qmc", "random"])
def test_a_search_whose_driver_is_killed_ends_with_the_trials_of_one_that_nothing_disturbed(
    service: Running, filling: dict[str, Any], sampler: str
) -> None:
    """Two seeds of ten trials, of which gp and tpe draw four knowing something; killed while the fourth trains."""
    search = {"name": "optuna", "sampler": sampler, "trials": 20, "batch": 2}
    training = {"epochs": 3, "learning_rate": STEPS}
    spec = {**filling, "arms": [{**filling["arms"][0], "training": training, "search": search}]}
    study, whole = undisturbed(service, spec)
    assert len(whole) == 20 and {state for state, _, _ in whole.values()} == {"finished"}
    again, ended = killed_and_followed(service, spec, 10)
    assert suggested(service, again.id) == suggested(service, study.id)
    assert_same(ended, whole)
