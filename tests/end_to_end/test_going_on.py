"""Studies that are paused, or whose processes are killed, in the middle of a cohort end as if nothing had happened."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import torch

from frontends.cli.local_ray import Process
from frontends.client import Client, Study
from service.contract.study.parsing import check_study
from tests.end_to_end.test_studies import driver_of, processes_below
from tests.planned import planned
from tests.processes import Running, until
from workers.training.loop import train

pytestmark = pytest.mark.timeout(300)

EPOCHS = 400
TOLD_SECONDS = 10  # from a driver's death to the event that says so
SPEC: dict[str, Any] = {
    "name": "disturbed",
    "data": {"name": "digits", "train_fraction": 0.3, "test_images": 100},
    "model": {"name": "mlp", "widths": [16], "latent": 4},
    "training": {"epochs": EPOCHS, "batch_size": 256, "learning_rate": 0.003},
    "seeds": [0, 1],
    "arms": [{"name": "ARML", "weighting": {"name": "arml", "learning_rate": {"grid": [0.01, 0.05]}}}],
    "resources": {"concurrency": 1},  # one cohort
    "evaluation": {"samples": 1, "every": 5},
}


@pytest.fixture
def client(cluster: Running) -> Iterator[Client]:
    with Client(cluster.url, cluster.token) as client:
        yield client


@pytest.fixture(scope="module")
def undisturbed() -> dict[str, dict[str, Any]]:
    """The last metrics of every trial, trained here in one go."""
    before, study = torch.get_num_threads(), check_study(SPEC)
    torch.set_num_threads(1)
    *_, last = train(planned(study), study.data, study.evaluation, torch.device("cpu"))
    torch.set_num_threads(before)
    return {trial: dict(metrics) for trial, metrics in last.metrics.items()}


def saved_after(client: Client, study: Study) -> int:
    """The epoch of the saved state; 0 before there is one."""
    cohorts = client.request("GET", f"/api/studies/{study.id}/cohorts")["cohorts"]
    return int(cohorts[0]["epoch"]) if cohorts else 0


def ended_as_if_nothing_had_happened(study: Study, undisturbed: dict[str, dict[str, Any]]) -> None:
    study.wait(timeout=200)
    assert study.read()["counts"]["finished"] == len(undisturbed) == 4
    for trial, metrics in undisturbed.items():
        told = study.trial(trial)
        assert [report["epoch"] for report in told["reports"]] == list(range(1, EPOCHS + 1))
        theirs = {name: value for name, value in told["metrics"].items() if name != "seconds"}
        assert theirs == pytest.approx({name: metrics[name] for name in theirs}, rel=1e-6, abs=1e-9, nan_ok=True)
        assert told["artifacts"]["checkpoint"] > 0


def goes_on_after(events: Iterable[dict[str, Any]]) -> list[int]:
    """The epochs after which trials were started again."""
    return [event["epoch"] for event in events if event["kind"] == "trial_started" and "epoch" in event]


def test_a_study_paused_in_the_middle_goes_on_to_the_same_metrics(
    cluster: Running, client: Client, undisturbed: dict[str, dict[str, Any]]
) -> None:
    study = client.submit(SPEC)
    until(lambda: study.read()["progress"] > 0.1, "some reports", 150)
    assert study.pause()["state"] == "paused"
    assert study.read()["pausing"] is True
    until(lambda: not driver_of(cluster, study), "the driver leaves", 150)
    epoch = saved_after(client, study)
    reported = {trial["id"]: trial["metrics"]["epoch"] for trial in study.trials()}
    assert 0 < epoch < EPOCHS and set(reported.values()) == {epoch}, "nothing will be trained twice"
    assert study.read()["state"] == "paused" and study.read()["counts"]["running"] == 0
    until(lambda: "pausing" not in study.read(), "the study is at rest", 60)
    study.resume()
    ended_as_if_nothing_had_happened(study, undisturbed)
    assert goes_on_after(study.events()) == [epoch] * 4
    assert saved_after(client, study) == 0, "nobody is left to go on"
    assert len(list((cluster.home / "states" / study.id).glob("*"))) == 1, "the end of the training, for more epochs"


def test_a_study_whose_processes_are_killed_in_the_middle_goes_on_to_the_same_metrics(
    cluster: Running, client: Client, undisturbed: dict[str, dict[str, Any]]
) -> None:
    """First that of its trials, then, after another save, its driver."""
    study = client.submit(SPEC)
    until(lambda: saved_after(client, study), "a first save", 150)
    kill([pid for pid, title in processes_below(cluster.process.pid).items() if trains(title)])
    first = saved_after(client, study)
    until(lambda: saved_after(client, study) > first, "another save, by their successors", 150)
    second = saved_after(client, study)
    killed = datetime.now(UTC)
    kill(driver_of(cluster, study))
    ended_as_if_nothing_had_happened(study, undisturbed)
    again = goes_on_after(study.events())
    assert len(again) == 8 and len(set(again[:4])) == len(set(again[4:])) == 1
    assert again[0] >= first and again[4] >= second > first, "from the last save, not from the beginning"
    [_, started] = [event for event in study.events() if event["kind"] == "study_started"]
    assert started["reason"].endswith(f"4 trials go on after epoch {again[4]}")
    assert (datetime.fromisoformat(started["at"]) - killed).total_seconds() < TOLD_SECONDS


def trains(title: str) -> bool:
    return title.startswith("ray::") and not any(word in title for word in ("IDLE", "JobSupervisor", "Agent"))


def kill(victims: list[int]) -> None:
    """And wait until they are gone."""
    assert victims
    for pid in victims:
        os.kill(pid, signal.SIGKILL)
    until(lambda: not any(map(Process.read, victims)), "their end")
