"""A study with rungs over real HTTP: its drivers are killed anywhere, and the same trials go on to the same numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytest import approx

from frontends.client import Client, Study
from tests.end_to_end.played_tune import Tune, driven_here
from tests.processes import Running, service_alone, short_home
from workers import run_study
from workers.sending.reporter import Reporter

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


class Killed(ConnectionError):
    """A driver's end that nobody had time to tell of."""


@pytest.fixture(scope="module")
def service() -> Iterator[Running]:
    with short_home() as home, service_alone(home) as running:
        yield running


Outcome = dict[str, tuple[str, Any, dict[str, float]]]


def outcome(running: Running, study: Study) -> Outcome:
    """By trial: its state, the epoch it was stopped after, its last metrics."""
    trials = running.get(f"/api/studies/{study.id}/trials", limit=100).json()["trials"]
    own = {trial["id"]: trial for trial in trials}
    left = ("seconds",)
    return {
        name: (t["state"], t["stopped_after"], {key: v for key, v in t["metrics"].items() if key not in left and v})
        for name, t in own.items()
    }


@pytest.fixture(scope="module")
def undisturbed(service: Running) -> Outcome:
    with Client(service.url) as client:
        study = client.submit(SPEC)
        assert driven_here(service, study) == run_study.DONE
        return outcome(service, study)


def test_half_of_the_configurations_stop_at_each_rung(service: Running, undisturbed: Outcome) -> None:
    ends = sorted((state, after or 6) for state, after, _ in undisturbed.values())
    assert ends == [("finished", 6)] * 6 + [("stopped", 2)] * 6 + [("stopped", 4)] * 2


def dying_after(results: int) -> type[Tune]:
    """A driver that is killed after so many results of cohorts; what was not sent by then is lost."""
    heard = 0

    class Dying(Tune):
        def _reporting(self, trial: Any) -> Any:
            said = super()._reporting(trial)

            def report(result: Any) -> None:
                nonlocal heard
                heard += 1
                if heard > results:
                    raise SystemExit  # no Exception, so that no cohort takes it for its own failure
                said(result)

            return report

        def fit(self) -> None:
            try:
                super().fit()
            except SystemExit:
                raise Killed from None

    return Dying


def killed_and_followed(service: Running, spec: dict[str, Any], results: int) -> Outcome:
    with Client(service.url) as client:
        study = client.submit(spec)
        assert driven_here(service, study, dying_after(results)) == run_study.LOST
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Reporter, "close", CLOSE)
            assert driven_here(service, study, attempt=2) == run_study.DONE
        return outcome(service, study)


def assert_same(ended: Outcome, undisturbed: Outcome) -> None:
    assert ended.keys() == undisturbed.keys()
    for trial, (state, cut, metrics) in undisturbed.items():
        assert ended[trial][:2] == (state, cut)
        assert ended[trial][2] == approx(metrics, rel=1e-4, abs=1e-5)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("after", [3, 8, 9, 11, 15, 19])
def test_a_driver_that_is_killed_is_followed_by_one_that_comes_to_the_same(
    service: Running, undisturbed: Outcome, after: int, patch_close: None
) -> None:
    assert_same(killed_and_followed(service, SPEC, after), undisturbed)


@pytest.mark.filterwarnings("default")
def test_searches_and_curves_beside_a_grid_are_trained_whole_also_by_the_next_driver(
    service: Running, patch_close: None
) -> None:
    beta = {"range": {"from": 0.01, "to": 1.0, "scale": "log"}}
    searched = {
        "name": "searched",
        "weighting": {"name": "fixed", "beta": beta},
        "search": {"name": "optuna", "trials": 4, "batch": 1},
    }
    curve = {"name": "curve", "weighting": {"name": "conditional", "points": 2, "verify": 1}}
    spec = {**SPEC, "arms": [SPEC["arms"][0], searched, curve]}
    with Client(service.url) as client, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Reporter, "close", CLOSE)
        study = client.submit(spec)
        assert driven_here(service, study) == run_study.DONE
        whole = outcome(service, study)
        arms = {trial["id"]: trial["arm"] for trial in study.trials()}
    ends = {arm: sorted((whole[t][0], whole[t][1] or 6) for t in arms if arms[t] == arm) for arm in arms.values()}
    assert ends == {
        "grid": [("finished", 6)] * 4 + [("stopped", 2)] * 6 + [("stopped", 4)] * 2,
        "searched": [("finished", 6)] * 4,
        "curve": [("finished", 6)] * 4,
    }
    assert_same(killed_and_followed(service, spec, 14), whole)


CLOSE = Reporter.close


@pytest.fixture
def patch_close(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in the queue of a driver that is killed goes with it."""

    def lost(self: Reporter, timeout: float) -> bool:
        self._given_up.set()
        return CLOSE(self, 0.0)

    monkeypatch.setattr(Reporter, "close", lost)
