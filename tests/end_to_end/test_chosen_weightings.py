"""A search that chooses the weighting, over real HTTP: trials are what they say, also when a driver is killed."""

from __future__ import annotations

from typing import Any

import pytest
from pytest import approx

from tests.end_to_end.killed import assert_same, killed_and_followed, undisturbed
from tests.processes import Running

pytestmark = pytest.mark.timeout(600)

BETA = {"range": {"from": 0.1, "to": 10.0, "scale": "log"}}
SPEC: dict[str, Any] = {
    "name": "which weighting",
    "data": {"name": "toy"},
    "training": {"epochs": 3, "learning_rate": 0.03},
    "seeds": [0, 1],
    "arms": [
        {
            "name": "any",
            "problem": {"name": "toy", "front": "concave"},
            "weighting": {
                "choice": [
                    {"name": "fixed", "beta": BETA},
                    {"name": "stch", "preference": {"range": {"from": 0.1, "to": 0.9}}},
                    {"name": "mgda"},
                ]
            },
            "search": {"name": "optuna", "trials": 16, "batch": 2},
        }
    ],
    "evaluation": {"checkpoints": False},
}


def shown(running: Running, study: str) -> dict[str, dict[str, Any]]:
    trials = running.get(f"/api/studies/{study}/trials", limit=100).json()["trials"]
    return {t["id"]: {key: v for key, v in t["config"].items() if key.startswith("weighting.")} for t in trials}


@pytest.mark.filterwarnings("default")
def test_every_trial_has_the_weighting_it_shows_and_a_killed_driver_changes_none(service: Running) -> None:
    study, whole = undisturbed(service, SPEC)
    chosen = shown(service, study.id)
    assert {own["weighting.name"] for own in chosen.values()} == {"fixed", "stch", "mgda"}
    for trial, own in chosen.items():
        state, _, metrics = whole[trial]
        assert state == "finished"
        if own["weighting.name"] == "fixed":
            assert metrics["weight_f2"] / metrics["weight_f1"] == approx(own["weighting.beta"], rel=1e-4)
            assert "weighting.preference" not in own
        assert ("cosine_f1_f2" in metrics) is (own["weighting.name"] == "mgda")
    again, ended = killed_and_followed(service, SPEC, 20)
    assert shown(service, again.id) == chosen
    assert_same(ended, whole)
