"""Trials that are trained elsewhere: processes with tokens share them, some are killed, and nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from frontends.client import Client, Study
from tests.end_to_end.test_studies import driver_of, service_pid
from tests.processes import Running, environment, until

pytestmark = pytest.mark.timeout(240)

CODE = """
from paretoscope import trainable


@trainable(metrics={"gain": "maximize", "cost": "minimize"})
def curve(trial, x: float = 0.5):
    trial.report(gain=x, cost=x)
"""
ARMS: list[dict[str, Any]] = [
    {"name": "grid", "problem": {"name": "curve", "x": {"grid": {"from": 0.1, "to": 1.0, "count": 10}}}},
    {
        "name": "search",
        "problem": {"name": "curve", "x": {"range": {"from": 0.0, "to": 1.0}}},
        "search": {"name": "optuna", "sampler": "tpe", "trials": 20, "batch": 5},
    },
]


@pytest.fixture
def client(cluster: Running) -> Iterator[Client]:
    with Client(cluster.url, cluster.token) as client:
        yield client


def submitted(client: Client, folder: Path, **spec: Any) -> Study:
    (folder / "mine.py").write_text(CODE)
    study = client.submit({"name": "far", "code": folder / "mine.py", **spec})
    until(lambda: study.read()["state"] == "running", "the study runs")
    return study


@pytest.fixture
def study(client: Client, tmp_path: Path) -> Study:
    arms = [{**arm, "run": "elsewhere"} for arm in ARMS]
    resources = {"cpus": 64}  # no cluster of these tests has as many: nothing may be trained here
    return submitted(client, tmp_path, seeds=[0, 1], arms=arms, resources=resources)


def holder(client: Client, study: Study, number: int, *keeps: int) -> subprocess.Popen[str]:
    """With a token of its own, which may read the study and take part in it."""
    token = client.create_token(f"holder {number}", ["read", "ingest"])["token"]
    command = [sys.executable, "-m", "tests.end_to_end.holder", client.url, study.id, *map(str, keeps)]
    env = environment(PARETOSCOPE_TOKEN=token, PYTHONPATH=os.pathsep.join(filter(None, sys.path)))
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)


def killed_with_its_trial(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    with process.stdout as told:
        trial = told.readline().strip()
    process.kill()
    process.wait()
    return trial


def test_four_processes_share_forty_trials_two_are_killed_and_each_trial_is_finished_once(
    cluster: Running, client: Client, study: Study
) -> None:
    victims = [holder(client, study, number, 2 + number) for number in range(2)]
    others = [holder(client, study, number) for number in (2, 3)]
    kept = [killed_with_its_trial(process) for process in victims]
    (driver,) = until(lambda: driver_of(cluster, study), "its driver")
    for pid in (driver, service_pid(cluster)):
        os.kill(pid, signal.SIGKILL)
    assert [process.wait(timeout=120) for process in others] == [0, 0]
    study.wait(timeout=60)
    events = list(study.events())
    finished = Counter(event["trial"] for event in events if event["kind"] == "trial_finished")
    assert len(finished) == 40 and set(finished.values()) == {1}
    assert {trial["state"] for trial in study.trials()} == {"finished"}
    returned = {event["trial"] for event in events if event["kind"] == "trial_returned"}
    assert set(kept) <= returned
    kinds = Counter(event["kind"] for event in events)
    assert (kinds["study_started"], kinds["trial_started"]) == (2, 0), "another driver, and nothing trained on Ray"
    assert kinds["trial_suggested"] == 20
    assert {arm["name"]: len(arm["points"]) > 1 for arm in study.front()["arms"]} == {"grid": True, "search": True}
    for process in others:
        if process.stdout is not None:
            process.stdout.close()


def test_a_study_that_is_trained_here_and_elsewhere_is_paused_goes_on_and_ends_with_both(
    client: Client, tmp_path: Path
) -> None:
    here = {"name": "here", "problem": {"name": "curve", "x": {"grid": [0.2, 0.4]}}}
    far = {"name": "far", "problem": {"name": "curve", "x": {"grid": [0.6, 0.8]}}, "run": "elsewhere"}
    study = submitted(client, tmp_path, arms=[here, far], resources={"concurrency": 1})
    with study.ask() as first:
        first.report(gain=0.6, cost=0.3)
    until(lambda: len(study.trials(arm="here", state="finished")) == 2, "what Ray trains", 60)
    with study.ask() as second:
        study.pause()
        second.alive()
        assert second.should_stop
    assert [trial["state"] for trial in study.trials(arm="far")] == ["finished", "planned"]
    until(lambda: not study.read().get("pausing"), "the driver has left")
    study.resume()
    with until(lambda: study.read()["state"] == "running", "it goes on") and study.ask(wait=60) as again:
        assert again.id == second.id
        again.report(gain=0.8, cost=0.6)
    assert study.wait(timeout=60).read()["counts"]["finished"] == 4
