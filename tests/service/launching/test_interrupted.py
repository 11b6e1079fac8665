"""A running study that nobody trains says so: while Ray is away, and until a driver that was started again trains."""

from __future__ import annotations

from typing import Any

import pytest

from service.launching import sight
from tests.service.bench import Bench

AWAY = "Ray at http://ray:8265 cannot be reached"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sight, "AWAY_SECONDS", 0.0)


def running(bench: Bench) -> tuple[str, str]:
    """A study with a driver, and one of its trials, which trains."""
    study = bench.submit(training={"epochs": 9})
    bench.launcher.tick()
    trial = bench.trials(study)[0]
    bench.report(study, {"uid": "t", "kind": "trial_started", "trial": trial})
    report(bench, study, trial, 1)
    return study, trial


def report(bench: Bench, study: str, trial: str, epoch: int) -> None:
    event = {"uid": f"{trial}:{epoch}", "kind": "report", "trial": trial, "metrics": {"epoch": epoch}}
    bench.report(study, event)


def told(bench: Bench, study: str) -> tuple[Any, Any, int]:
    """What it says, the list like the study itself: state, interruption, trials in training."""
    alone = bench.read(study)
    [listed] = [each for each in bench.get("/api/studies")["studies"] if each["id"] == study]
    seen = [(each["state"], each["interrupted"], each["counts"]["running"]) for each in (alone, listed)]
    assert seen[0] == seen[1]
    return seen[0]


def test_while_ray_is_away_a_running_study_is_interrupted_and_others_are_as_they_were(bench: Bench) -> None:
    ended, _ = running(bench)
    bench.finish(ended)
    study, _ = running(bench)
    assert told(bench, study) == ("running", None, 1)
    assert bench.read(study)["eta_seconds"] is not None
    bench.cluster.answers = False
    for _ in range(3):
        bench.launcher.step()
    assert told(bench, study) == ("running", AWAY, 0)
    assert bench.read(study)["eta_seconds"] is None, "it does not go on as it did"
    assert told(bench, ended) == ("finished", None, 0)
    assert bench.kinds(study).count("study_interrupted") == 1, "said once"


def test_a_moment_without_ray_is_no_interruption(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sight, "AWAY_SECONDS", 60.0)
    study, _ = running(bench)
    bench.cluster.answers = False
    bench.launcher.step()
    bench.launcher.step()
    assert told(bench, study) == ("running", None, 1)


def test_a_driver_that_was_there_all_the_time_ends_the_interruption(bench: Bench) -> None:
    study, _ = running(bench)
    bench.cluster.answers = False
    bench.launcher.step()
    bench.cluster.answers = True
    bench.launcher.step()
    bench.launcher.step()
    assert told(bench, study) == ("running", None, 1), "its trial trains as before"
    assert bench.kinds(study)[-2:] == ["study_interrupted", "study_reconnected"]
    bench.cluster.answers = False
    bench.launcher.step()
    assert told(bench, study) == ("running", AWAY, 0), "and it may happen again"


def test_reports_that_come_in_end_the_interruption_too(bench: Bench) -> None:
    study, trial = running(bench)
    bench.cluster.answers = False
    bench.launcher.step()
    report(bench, study, trial, 2)
    assert told(bench, study) == ("running", None, 1)
    assert bench.read(study)["reason"] is None
    bench.launcher.step()
    assert told(bench, study) == ("running", None, 1), "somebody trains, whatever Ray says"


def test_until_a_new_driver_trains_the_study_says_why_it_was_started_again(bench: Bench) -> None:
    study, trial = running(bench)
    bench.cluster.end(study, message="it died")
    bench.launcher.tick()
    why = "started again: its driver ended (failed): it died; 1 trial starts over, 1 trial had not begun"
    assert told(bench, study) == ("running", why, 0)
    event = bench.events(study)[-1]
    assert (event["kind"], event["attempt"], event["reason"]) == ("study_started", 2, why)
    bench.report(study, {"uid": "again", "kind": "trial_started", "trial": trial, "epoch": 0})
    assert told(bench, study) == ("running", None, 1)


def test_a_ray_that_comes_back_without_the_driver_leads_on_to_a_new_one(bench: Bench) -> None:
    study, trial = running(bench)
    bench.cluster.answers = False
    bench.launcher.step()
    bench.cluster.answers = True
    bench.cluster.jobs.clear()
    bench.launcher.step()
    assert bench.cluster.started() == [study, f"{study}-2"]
    state, why, count = told(bench, study)
    assert (state, count) == ("running", 0) and why.startswith("started again: Ray does not know its job")
    report(bench, study, trial, 2)
    assert told(bench, study) == ("running", None, 1)


def test_a_study_that_somebody_resumed_is_not_interrupted(bench: Bench) -> None:
    study, _ = running(bench)
    bench.ask("POST", f"/api/studies/{study}/pause")
    bench.cluster.end(study, "SUCCEEDED")
    bench.ask("POST", f"/api/studies/{study}/resume")
    bench.launcher.tick()
    assert told(bench, study) == ("running", None, 0)


def test_an_interrupted_study_can_be_paused_and_cancelled(bench: Bench) -> None:
    for wish, state in (("pause", "paused"), ("cancel", "cancelled")):
        study, _ = running(bench)
        bench.cluster.answers = False
        bench.launcher.step()
        assert bench.ask("POST", f"/api/studies/{study}/{wish}").status_code == 200
        assert told(bench, study)[:2] == (state, None)
        bench.cluster.answers = True
