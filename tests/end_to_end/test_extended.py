"""A finished study on real Ray has its failed trial retried, then gets more epochs and a seed: what it had stays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch

from frontends.client import Client, Study
from service.contract.study.expansion import PlannedTrial
from service.contract.study.parsing import check_study
from tests.end_to_end.test_curves_kept import POINTS, assert_curves_are_whole
from tests.planned import planned
from tests.processes import Running
from workers.training.loop import train

pytestmark = pytest.mark.timeout(900)

BEFORE, AFTER = 4, 8


@pytest.fixture
def client(cluster: Running) -> Iterator[Client]:
    with Client(cluster.url, cluster.token) as client:
        yield client


def spec_of(epochs: int, seeds: list[int]) -> dict[str, Any]:
    """A grid, a curve, and an arm whose steps are so long that it fails, in a cohort with the grid."""
    return {
        "name": "extended",
        "data": {"name": "digits", "train_fraction": 0.3, "test_images": 100},
        "model": {"name": "mlp", "widths": [16], "latent": 4},
        "training": {"epochs": epochs, "batch_size": 128, "learning_rate": 0.01},
        "seeds": seeds,
        "evaluation": {"samples": 1},
        "resources": {"concurrency": 1},
        "arms": [
            {"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": [0.001, 0.1]}}},
            {"name": "all β", "weighting": {"name": "conditional", "points": POINTS}},
            {
                "name": "too fast",
                "weighting": {"name": "uniform"},
                "training": {"learning_rate": 1e12},
            },
        ],
    }


def straight(epochs: int, seeds: list[int]) -> dict[str, list[dict[str, Any]]]:
    """The last metrics of every trial that does not fail, then those at each of its points, with its β; trained here to
    this epoch in one go."""
    before, study = torch.get_num_threads(), check_study(spec_of(epochs, seeds))
    torch.set_num_threads(1)
    last: dict[str, list[dict[str, Any]]] = {}
    for arm in ("manual β", "all β"):
        trials: list[PlannedTrial] = planned(study, arm)
        *_, report = train(trials, study.data, study.evaluation, torch.device("cpu"))
        for trial, metrics in report.metrics.items():
            last[trial] = [dict(metrics), *at_points(report.points.get(trial, []))]
    torch.set_num_threads(before)
    return last


def at_points(points: Sequence[Any]) -> list[dict[str, Any]]:
    return [{**point["where"], **point["metrics"]} for point in points]


def of(events: list[dict[str, Any]], kind: str, trial: str) -> list[dict[str, Any]]:
    return [event for event in events if event["kind"] == kind and event.get("trial") == trial]


def test_a_finished_study_is_retried_and_extended_and_only_what_is_missing_is_trained(
    cluster: Running, client: Client
) -> None:
    study = client.submit(spec_of(BEFORE, [0])).wait(timeout=280)
    assert study.read()["counts"]["failed"] == 1
    rows = {trial["id"]: trial for trial in study.trials()}
    (fast,) = [own for own, row in rows.items() if row["arm"] == "too fast"]
    told = {own: study.trial(own)["reports"] for own in rows if own != fast}

    study.retry()
    study.wait(timeout=280)
    again = study.trial(fast)
    assert (again["state"], again["retries"]) == ("failed", 1) and "non-finite" in again["reason"]
    assert {own: study.trial(own)["reports"] for own in told} == told, "nobody else was trained"

    study.extend(seeds=[1], epochs=AFTER)
    study.wait(timeout=280)
    check_extended(study, told, fast)
    states = cluster.home / "states" / study.id
    assert len(list(states.glob("*.safetensors"))) > 0, "it may be extended once more"
    study.delete()
    assert not states.exists()


def check_extended(study: Study, told: dict[str, list[dict[str, Any]]], fast: str) -> None:
    events = list(study.events())
    [reason] = [event["reason"] for event in events if event["kind"] == "study_started" and event["attempt"] == 3]
    assert reason == f"extended; 3 trials go on after epoch {BEFORE}, 4 trials had not begun"
    for own, reports in told.items():
        now = study.trial(own)
        assert [report["epoch"] for report in now["reports"]] == list(range(1, AFTER + 1)), "each epoch once"
        assert now["reports"][:BEFORE] == reports, "earlier numbers are as they were"
        assert [event.get("epoch") for event in of(events, "trial_started", own)] == [None, BEFORE]
    expected = straight(AFTER, [0, 1])
    trials = study.trials()
    assert {trial["id"] for trial in trials if trial["state"] == "finished"} == set(expected)
    for trial in trials:
        if trial["id"] not in expected:
            continue
        theirs = [trial["metrics"], *at_points(study.trial(trial["id"])["points"])]
        assert len(theirs) == (1 + POINTS if trial["arm"] == "all β" else 1)
        for their, our in zip(theirs, expected[trial["id"]], strict=True):
            told = {name: value for name, value in their.items() if name != "seconds"}
            assert told == pytest.approx({name: our[name] for name in told}, rel=1e-5, abs=1e-6, nan_ok=True)
        if trial["arm"] == "all β":
            assert_curves_are_whole(study, trial)
    assert study.trial(fast)["state"] == "failed" and len(of(events, "trial_failed", fast)) == 2
