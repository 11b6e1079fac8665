"""Pausing and resuming: what is written, what waits, what is started, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.service.bench import Bench


def ask(bench: Bench, study: str, wish: str) -> Any:
    return bench.ask("POST", f"/api/studies/{study}/{wish}")


def test_a_paused_study_is_left_alone_and_goes_on_with_a_new_driver(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    answer = ask(bench, study, "pause")
    assert (answer.status_code, answer.json()["state"]) == (200, "paused")
    bench.cluster.end(study, "SUCCEEDED", None)
    bench.launcher.tick()
    assert bench.cluster.started() == [study] and bench.cluster.stopped == []
    answer = ask(bench, study, "resume")
    assert (answer.status_code, answer.json()["state"]) == (200, "running")
    bench.launcher.tick()
    assert bench.cluster.started() == [study, f"{study}-2"]
    assert bench.kinds(study) == [
        "study_queued",
        "study_started",
        "study_paused",
        "study_resumed",
        "study_started",
    ]
    assert bench.events(study)[-1]["reason"] == "resumed; 2 trials had not begun"


def test_a_paused_study_says_that_it_is_pausing_until_its_driver_has_left(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    ask(bench, study, "pause")
    assert bench.read(study)["pausing"] is True
    assert bench.launcher.tick() and bench.read(study)["pausing"] is True
    bench.cluster.end(study, "SUCCEEDED", None)
    bench.launcher.tick()
    assert "pausing" not in bench.read(study)
    waiting = bench.submit()
    ask(bench, waiting, "pause")
    assert "pausing" not in bench.read(waiting), "nothing of it is in training"


def test_a_driver_that_is_still_leaving_is_waited_for(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    ask(bench, study, "pause")
    ask(bench, study, "resume")
    bench.launcher.tick()
    assert bench.cluster.started() == [study], "it has one"
    bench.cluster.end(study, "SUCCEEDED", None)
    bench.launcher.tick()
    assert bench.cluster.started() == [study, f"{study}-2"]


def test_a_study_may_be_paused_in_the_queue_and_others_take_its_place(bench: Bench) -> None:
    one, two, three = (bench.submit() for _ in range(3))
    ask(bench, one, "pause")
    bench.launcher.tick()
    assert bench.cluster.started() == [two, three]
    ask(bench, one, "resume")
    bench.launcher.tick()
    assert bench.cluster.started() == [two, three], "no more run at once than are allowed"
    bench.finish(two)
    bench.launcher.tick()
    assert bench.cluster.started() == [two, three, one]


@pytest.mark.parametrize("at_once", [1, 2])
def test_a_resumed_study_counts_once_among_those_that_run(tmp_path: Path, at_once: int) -> None:
    bench = Bench(tmp_path, studies_at_once=at_once)
    studies = [bench.submit() for _ in range(at_once)]
    bench.launcher.tick()
    for study in studies:
        ask(bench, study, "pause")
        bench.cluster.end(study, "SUCCEEDED", None)
        ask(bench, study, "resume")
    bench.launcher.tick()
    assert bench.cluster.started() == [*studies, *(f"{study}-2" for study in studies)]
    bench.close()


def test_a_paused_study_makes_room_for_another(bench: Bench) -> None:
    one, two, three = (bench.submit() for _ in range(3))
    bench.launcher.tick()
    ask(bench, one, "pause")
    bench.launcher.tick()
    assert bench.cluster.started() == [one, two, three]


def test_a_failed_study_can_be_resumed_and_has_all_its_attempts_again(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    for job in (study, f"{study}-2", f"{study}-3"):
        bench.cluster.end(job)
        bench.launcher.tick()
    assert bench.state(study) == "failed"
    answer = ask(bench, study, "resume")
    assert (answer.json()["state"], answer.json()["ended_at"], answer.json()["reason"]) == ("running", None, None)
    bench.launcher.tick()
    for job in (f"{study}-4", f"{study}-5", f"{study}-6"):
        assert bench.state(study) == "running"
        bench.cluster.end(job)
        bench.launcher.tick()


def test_the_stream_of_a_study_that_failed_and_was_resumed_has_all_its_events(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    bench.report(study, {"uid": "f", "kind": "study_failed", "reason": "r"})
    bench.cluster.end(study)
    ask(bench, study, "resume")
    bench.launcher.tick()
    bench.finish(study)
    kinds = [event["kind"] for event in bench.stream(study)]
    assert kinds[-4:] == ["study_failed", "study_resumed", "study_started", "study_finished"]


@pytest.mark.parametrize(
    ("wish", "allowed"),
    [("pause", {"queued", "running"}), ("resume", {"paused", "failed"}), ("cancel", {"queued", "running", "paused"})],
)
@pytest.mark.parametrize("state", ["queued", "running", "paused", "finished", "failed", "cancelled"])
def test_a_wish_that_does_not_apply_is_refused_with_the_state(
    bench: Bench, wish: str, allowed: set[str], state: str
) -> None:
    study = bench.submit()
    if state != "queued":
        bench.launcher.tick()
    if state in ("paused", "cancelled"):
        ask(bench, study, {"paused": "pause", "cancelled": "cancel"}[state])
    if state in ("finished", "failed"):
        bench.report(study, {"uid": "end", "kind": f"study_{state}", **({"reason": "r"} if state == "failed" else {})})
    answer = ask(bench, study, wish)
    if state in allowed:
        assert answer.status_code == 200
        return
    assert answer.status_code == 409
    done = {"pause": "paused", "resume": "resumed", "cancel": "cancelled"}[wish]
    assert answer.json()["error"]["message"] == f"study {study} is {state} and cannot be {done}"
    assert answer.json()["error"]["details"] == [{"path": "state", "message": state}]


def test_pausing_what_is_not_there_is_not_found(bench: Bench) -> None:
    assert ask(bench, "nope", "pause").status_code == ask(bench, "nope", "resume").status_code == 404


def test_a_paused_study_stays_so_over_a_restart(tmp_path: Path, bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    ask(bench, study, "pause")
    again = Bench(tmp_path)
    again.launcher.tick()
    assert (again.state(study), again.cluster.started()) == ("paused", [])
    again.close()


def test_the_start_after_a_pause_is_no_attempt_of_the_study(tmp_path: Path) -> None:
    """Its driver may die once more than another's before the study is given up."""
    bench = Bench(tmp_path, driver_attempts=1)
    study = bench.submit()
    bench.launcher.tick()
    for wish in ("pause", "resume"):
        assert bench.ask("POST", f"/api/studies/{study}/{wish}").status_code == 200
    bench.cluster.end(study, "SUCCEEDED", None)
    bench.launcher.tick()
    assert bench.cluster.started() == [study, f"{study}-2"] and bench.events(study)[-1]["excused"] is True
    bench.cluster.end(f"{study}-2")
    bench.launcher.tick()
    assert (bench.state(study), bench.cluster.started()[-1]) == ("running", f"{study}-3")
    bench.cluster.end(f"{study}-3")
    bench.launcher.tick()
    assert bench.state(study) == "failed"
    bench.close()
