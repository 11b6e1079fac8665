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


def outcome(running: Running, study: Study) -> dict[str, tuple[str, Any, dict[str, float]]]:
    """By trial: its state, the epoch it was stopped after, its last metrics."""
    trials = running.get(f"/api/studies/{study.id}/trials", limit=100).json()["trials"]
    own = {trial["id"]: trial for trial in trials}
    left = ("seconds",)
    return {
        name: (t["state"], t["stopped_after"], {key: v for key, v in t["metrics"].items() if key not in left and v})
        for name, t in own.items()
    }


@pytest.fixture(scope="module")
def undisturbed(service: Running) -> dict[str, tuple[str, Any, dict[str, float]]]:
    with Client(service.url) as client:
        study = client.submit(SPEC)
        assert driven_here(service, study) == run_study.DONE
        return outcome(service, study)


def test_half_of_the_configurations_stop_at_each_rung(
    service: Running, undisturbed: dict[str, tuple[str, Any, dict[str, float]]]
) -> None:
    ends = sorted((state, after or 6) for state, after, _ in undisturbed.values())
    assert ends == [("finished", 6)] * 6 + [("stopped", 2)] * 6 + [("stopped", 4)] * 2


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("after", [3, 8, 9, 11, 15, 19])
def test_a_driver_that_is_killed_is_followed_by_one_that_comes_to_the_same(
    service: Running, undisturbed: dict[str, tuple[str, Any, dict[str, float]]], after: int, patch_close: None
) -> None:
    """After so many results of cohorts; what was not sent by then is lost."""
    heard = 0

    class Dying(Tune):
        def _reporting(self, trial: Any) -> Any:
            said = super()._reporting(trial)

            def report(result: Any) -> None:
                nonlocal heard
                heard += 1
                if heard > after:
                    raise SystemExit  # no Exception, so that no cohort takes it for its own failure
                said(result)

            return report

        def fit(self) -> None:
            try:
                super().fit()
            except SystemExit:
                raise Killed from None

    with Client(service.url) as client:
        study = client.submit(SPEC)
        assert driven_here(service, study, Dying) == run_study.LOST
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Reporter, "close", CLOSE)
            assert driven_here(service, study, attempt=2) == run_study.DONE
        ended = outcome(service, study)
    assert ended.keys() == undisturbed.keys()
    for trial, (state, cut, metrics) in undisturbed.items():
        assert ended[trial][:2] == (state, cut)
        assert ended[trial][2] == approx(metrics, rel=1e-4, abs=1e-5)


CLOSE = Reporter.close


@pytest.fixture
def patch_close(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in the queue of a driver that is killed goes with it."""

    def lost(self: Reporter, timeout: float) -> bool:
        self._given_up.set()
        return CLOSE(self, 0.0)

    monkeypatch.setattr(Reporter, "close", lost)
