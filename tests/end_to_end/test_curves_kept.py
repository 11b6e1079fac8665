"""Trials with many points through the whole product: whatever dies meanwhile, their points stay whole."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from frontends.client import Client, ClientError, Study
from tests.end_to_end.test_studies import driver_of, service_pid
from tests.processes import Running, until

pytestmark = pytest.mark.timeout(240)

POINTS = 4


@pytest.fixture
def client(cluster: Running) -> Iterator[Client]:
    with Client(cluster.url, cluster.token) as client:
        yield client


def of_curves(spec: dict[str, Any], epochs: int, seeds: list[int], **more: Any) -> dict[str, Any]:
    """One network for all βs, which is verified at one of them."""
    arms = [{"name": "all β", "weighting": {"name": "conditional", "points": POINTS, "verify": 1}}]
    training, evaluation = {**spec["training"], "epochs": epochs}, {"samples": 1, "checkpoints": False}
    return {
        **spec,
        "name": "curves",
        "arms": arms,
        "training": training,
        "evaluation": evaluation,
        "seeds": seeds,
    } | more


def brought_by(study: Study, trial: dict[str, Any]) -> dict[int, Any]:
    """The curves that it has brought so far, by epoch."""
    return {each["epoch"]: each["points"] for each in study.trial(trial["id"])["reports"] if "points" in each}


def assert_curves_are_whole(study: Study, trial: dict[str, Any]) -> None:
    """Every curve that it ever brought has each of its βs once, and the last is what it has now."""
    answer = study.trial(trial["id"])
    brought = [report["points"] for report in answer["reports"] if "points" in report]
    for points in brought:
        betas = [point["where"]["beta"] for point in points]
        assert betas == pytest.approx([1e-4, 10 ** (-8 / 3), 10 ** (-4 / 3), 1.0], rel=1e-4)
        assert all(point["metrics"]["i_xz_bits"] is not None for point in points)
    assert answer["points"] == (brought[-1] if brought else [])
    if trial["state"] == "finished":
        assert len(answer["points"]) == POINTS
        epochs = [report["epoch"] for report in answer["reports"]]
        assert epochs == sorted(set(epochs)) and "points" in answer["reports"][-1]


def test_a_killed_driver_is_started_again_and_a_killed_service_comes_back_and_no_curve_is_torn(
    cluster: Running, client: Client, spec: dict[str, Any]
) -> None:
    """Of two studies that run together one loses its driver; both go on under the service that comes back."""
    epochs, alone = 150, {"resources": {"concurrency": 1}}
    plain = client.submit({**spec, **alone, "name": "left alone", "training": {**spec["training"], "epochs": epochs}})
    study = client.submit(of_curves(spec, epochs=epochs, seeds=[0, 1], **alone))
    until(lambda: all(own["places"] for own in study.trials() if not own["verifies"]), "their curves", seconds=150)
    until(lambda: plain.read()["progress"] > 0.02, "some reports", 150)
    before = {own["id"]: brought_by(study, own) for own in study.trials() if not own["verifies"]}
    killed = service_pid(cluster)
    for pid in (*driver_of(cluster, study), killed):
        os.kill(pid, signal.SIGKILL)
    until(lambda: answered(study, "interrupted", "started again: its driver ended"), "it says so", 120)
    for each in (plain, study):
        each.wait(timeout=180)
        assert each.read()["interrupted"] is None
    assert service_pid(cluster) != killed
    for each, starts in ((plain, 1), (study, 2)):
        events = list(each.events())
        assert [event["kind"] for event in events].count("study_started") == starts
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        for trial in each.trials():
            assert [r["epoch"] for r in each.trial(trial["id"])["reports"]] == list(range(1, epochs + 1))
    curved = [trial for trial in study.trials() if not trial["verifies"]]
    verifying = [trial for trial in study.trials() if trial["verifies"]]
    assert [len(plain.trials()), len(curved), len(verifying)] == [6, 2, 2]
    for trial in curved:
        assert trial["state"] == "finished" and trial["places"] == POINTS
        assert_curves_are_whole(study, trial)
        now = brought_by(study, trial)
        assert before[trial["id"]] and all(now[epoch] == points for epoch, points in before[trial["id"]].items())
    assert all(trial["state"] == "finished" and trial["places"] == 0 for trial in verifying)
    (arm,) = study.comparison()["arms"]
    assert arm["verified"]["counts"]["finished"] == 2
    assert arm["verified"]["differences"]["i_zy_bits"]["seeds"] == 2
    assert "separately trained networks" in study.comparison()["verdict"]


def answered(study: Study, field: str, words: str) -> bool:
    """What it says of itself; nothing while the service is away."""
    try:
        return str(study.read()[field]).startswith(words)
    except ClientError:
        return False


def test_a_cancelled_study_keeps_the_curves_of_what_finished(client: Client, spec: dict[str, Any]) -> None:
    one_by_one = {"cohort": 1, "concurrency": 1}
    study = client.submit(of_curves(spec, epochs=60, seeds=list(range(40)), resources=one_by_one))
    until(
        lambda: any(trial["state"] == "finished" and trial["places"] for trial in study.trials()),
        "a curve",
        seconds=150,
    )
    assert study.cancel()["state"] == "cancelled"
    trials = study.trials()
    curved = [trial for trial in trials if trial["state"] == "finished" and not trial["verifies"]]
    assert curved and len(curved) < 40
    for trial in trials:
        if not trial["verifies"] and trial["metrics"]:
            assert_curves_are_whole(study, trial)
    placed = [point for point in study.front()["points"] if point["where"]]  # some were cut before their first curve
    keys = [(point["trial"], point["where"]["beta"]) for point in placed]
    assert len(keys) == len(set(keys))
