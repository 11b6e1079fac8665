"""Drivers that are killed in the middle, and those that follow them: the same trials must come of it."""

from __future__ import annotations

from typing import Any

import pytest
from pytest import approx

from frontends.client import Client, Study
from tests.end_to_end.played_tune import Tune, driven_here
from tests.processes import Running
from workers import run_study
from workers.sending.reporter import Reporter

Outcome = dict[str, tuple[str, Any, dict[str, float]]]
CLOSE = Reporter.close


class Killed(ConnectionError):
    """A driver's end that nobody had time to tell of."""


def outcome(running: Running, study: Study) -> Outcome:
    """By trial: its state, the epoch it was stopped after, its last metrics."""
    trials = running.get(f"/api/studies/{study.id}/trials", limit=100).json()["trials"]
    own = {trial["id"]: trial for trial in trials}
    left = ("seconds",)
    return {
        name: (t["state"], t["stopped_after"], {key: v for key, v in t["metrics"].items() if key not in left and v})
        for name, t in own.items()
    }


def undisturbed(service: Running, spec: dict[str, Any]) -> tuple[Study, Outcome]:
    with Client(service.url) as client:
        study = client.submit(spec)
        assert driven_here(service, study) == run_study.DONE
        return study, outcome(service, study)


def killed_and_followed(service: Running, spec: dict[str, Any], results: int) -> tuple[Study, Outcome]:
    """The first driver is killed after so many results of cohorts, and what it had not sent by then is lost."""
    with Client(service.url) as client:
        study = client.submit(spec)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Reporter, "close", _lost)
            assert driven_here(service, study, _dying_after(results)) == run_study.LOST
        assert driven_here(service, study, attempt=2) == run_study.DONE
        return study, outcome(service, study)


def assert_same(ended: Outcome, expected: Outcome) -> None:
    assert ended.keys() == expected.keys()
    for trial, (state, cut, metrics) in expected.items():
        assert ended[trial][:2] == (state, cut)
        assert ended[trial][2] == approx(metrics, rel=1e-4, abs=1e-5)


def _lost(reporter: Reporter, timeout: float) -> bool:
    """What is in the queue of a driver that is killed goes with it."""
    reporter._given_up.set()
    return CLOSE(reporter, 0.0)


def _dying_after(results: int) -> type[Tune]:
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
