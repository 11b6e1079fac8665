"""A study with rungs over real HTTP: its drivers are killed anywhere, and the same trials go on to the same numbers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.end_to_end.killed import Outcome, assert_same, killed_and_followed, undisturbed
from tests.processes import Running

pytestmark = pytest.mark.timeout(600)

SPEC: dict[str, Any] = {
    "name": "halved",
    "data": {"name": "digits", "train_fraction": 0.2, "test_images": 60},
    "model": {"name": "mlp", "widths": [12], "latent": 4},
    "training": {"epochs": 6, "batch_size": 64},
    "seeds": [0, 1],
    "evaluation": {"samples": 1, "every": 3, "checkpoints": False},
    "arms": [
        {"name": "grid", "weighting": {"name": "fixed", "beta": {"grid": [0.001, 0.003, 0.01, 0.1, 0.3, 1.0]}}},
        {"name": "one", "weighting": {"name": "mib"}},
    ],
    "resources": {"cohort": 4},
    "stopping": {"name": "halving", "keep": 0.5, "first": 2},
}


@pytest.fixture(scope="module")
def whole(service: Running) -> Outcome:
    return undisturbed(service, SPEC)[1]


def test_half_of_the_configurations_stop_at_each_rung(whole: Outcome) -> None:
    ends = sorted((state, after or 6) for state, after, _ in whole.values())
    assert ends == [("finished", 6)] * 6 + [("stopped", 2)] * 6 + [("stopped", 4)] * 2


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("after", [3, 8, 9, 11, 15, 19])
def test_a_driver_that_is_killed_is_followed_by_one_that_comes_to_the_same(
    service: Running, whole: Outcome, after: int
) -> None:
    assert_same(killed_and_followed(service, SPEC, after)[1], whole)


@pytest.mark.filterwarnings("default")
def test_searches_and_curves_beside_a_grid_are_trained_whole_also_by_the_next_driver(service: Running) -> None:
    beta = {"range": {"from": 0.01, "to": 1.0, "scale": "log"}}
    searched = {
        "name": "searched",
        "weighting": {"name": "fixed", "beta": beta},
        "search": {"name": "optuna", "trials": 4, "batch": 1},
    }
    curve = {"name": "curve", "weighting": {"name": "conditional", "points": 2, "verify": 1}}
    spec = {**SPEC, "arms": [SPEC["arms"][0], searched, curve]}
    study, expected = undisturbed(service, spec)
    trials = service.get(f"/api/studies/{study.id}/trials", limit=100).json()["trials"]
    ends: dict[str, list[tuple[str, int]]] = {}
    for trial in trials:
        ends.setdefault(trial["arm"], []).append((trial["state"], trial["stopped_after"] or 6))
    assert {arm: sorted(own) for arm, own in ends.items()} == {
        "grid": [("finished", 6)] * 4 + [("stopped", 2)] * 6 + [("stopped", 4)] * 2,
        "searched": [("finished", 6)] * 4,
        "curve": [("finished", 6)] * 4,
    }
    assert_same(killed_and_followed(service, spec, 14)[1], expected)
