"""A service whose Ray ends with it: states are saved, last reports come in, and only then it stops."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from service.launching import leaving
from service.launching.leaving import Leaving
from tests.service.bench import Bench


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaving, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(leaving, "LAST_WORDS_SECONDS", 0.1)


def training(bench: Bench) -> str:
    """A study, one of whose trials is in training."""
    study = bench.submit()
    bench.launcher.tick()
    trial = bench.trials(study)[0]
    bench.report(study, {"uid": "t", "kind": "trial_started", "trial": trial})
    return study


def left(bench: Bench, seconds: float) -> list[str]:
    """What happened until it was done."""
    happened: list[str] = []
    Leaving(bench.launcher, bench.cluster, seconds, lambda: happened.append("done")).run()
    return [*(f"stop {job}" for job in bench.cluster.stopped), *happened]


def meanwhile(bench: Bench, act: Callable[[], None], after: int) -> None:
    """When the cluster has been asked so many times."""
    plain = bench.cluster.live

    def live() -> set[str]:
        nonlocal after
        after -= 1
        if after == 0:
            act()
        return plain()

    pytest.MonkeyPatch().setattr(bench.cluster, "live", live)


def test_a_driver_whose_cohorts_save_is_waited_for_and_not_started_again(bench: Bench) -> None:
    study = training(bench)
    assert bench.get(f"/api/studies/{study}/state") == {"state": "running", "leave": False, "last_seq": 3}
    heard: list[object] = []

    def leave() -> None:
        heard.append(bench.get(f"/api/studies/{study}/state"))
        bench.cluster.end(study, "SUCCEEDED")

    meanwhile(bench, leave, after=5)
    assert left(bench, 30) == ["done"]
    assert heard == [{"state": "running", "leave": True, "last_seq": 3}], "trial processes are told"
    bench.launcher.tick()
    assert bench.cluster.started() == [study] and bench.state(study) == "running", "the next service goes on with it"


def test_a_driver_that_trains_nothing_yet_is_asked_to_end_at_once(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    meanwhile(bench, lambda: bench.cluster.end(study, "STOPPED"), after=3)
    assert left(bench, 30) == [f"stop {study}", "done"]


def test_who_does_not_leave_in_time_is_asked_to_end(bench: Bench) -> None:
    study = training(bench)
    assert left(bench, 0.05) == [f"stop {study}", "done"]


def test_who_is_asked_to_end_late_still_has_time_for_its_last_words(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaving, "LAST_WORDS_SECONDS", 30)
    study = training(bench)
    looks: list[bool] = []
    plain = bench.cluster.live

    def live() -> set[str]:
        looks.append(study in bench.cluster.stopped)
        if looks.count(True) == 5:  # what it has is sent by now
            bench.cluster.end(study, "STOPPED")
        return plain()

    monkeypatch.setattr(bench.cluster, "live", live)
    assert left(bench, 0.05) == [f"stop {study}", "done"]
    assert looks.count(True) == 5, "it is looked for until it has left"


def test_a_ray_that_is_gone_is_not_waited_for(bench: Bench) -> None:
    training(bench)
    bench.cluster.answers = False
    assert left(bench, 30) == ["done"]


def test_a_paused_study_is_left_by_its_trials(bench: Bench) -> None:
    study = training(bench)
    bench.ask("POST", f"/api/studies/{study}/pause")
    assert bench.get(f"/api/studies/{study}/state") == {"state": "paused", "leave": True, "last_seq": 4}
