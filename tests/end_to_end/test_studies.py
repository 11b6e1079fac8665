"""Studies through the whole product: real HTTP, real Ray, real training."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from frontends.client import Client, Study
from service.contract.metrics import BOTTLENECK_METRICS, COMMON_METRICS
from service.contract.study.parsing import check_study
from tests.processes import Running, until

pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def client(cluster: Running) -> Iterator[Client]:
    with Client(cluster.url, cluster.token) as client:
        yield client


def long(spec: dict[str, Any], epochs: int = 5000) -> dict[str, Any]:
    return {**spec, "name": "long", "training": {**spec["training"], "epochs": epochs}}


def beside(spec: dict[str, Any]) -> dict[str, Any]:
    """One process at a time: another study trains on the other processor."""
    return {**spec, "resources": {"concurrency": 1}}


def listen(cluster: Running, study: Study, into: list[dict[str, Any]]) -> threading.Thread:
    """`curl -N …/events`, in a thread, until the stream ends by itself."""

    def read() -> None:
        with httpx.stream(
            "GET", f"{cluster.url}/api/studies/{study.id}/events", headers=cluster.headers, timeout=120, trust_env=False
        ) as answer:
            into.extend(json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: "))

    thread = threading.Thread(target=read)
    thread.start()
    return thread


def processes_below(root: int) -> dict[int, str]:
    """Living descendants of a process, with their command lines."""
    parents, titles = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            titles[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if status[0] != "Z":
            parents[int(folder.name)] = int(status[1])
    below: dict[int, str] = {}
    grown = {root}
    while grown:
        grown = {pid for pid, parent in parents.items() if parent in grown and pid not in below}
        below |= {pid: titles[pid] for pid in grown}
    return below


def driver_of(cluster: Running, study: Study) -> list[int]:
    below = processes_below(cluster.process.pid)
    return [pid for pid, title in below.items() if f"run_study {study.id}" in title and "python" in title.split(" ")[0]]


def service_pid(cluster: Running) -> int:
    return int(json.loads((cluster.home / "service.json").read_text())["pid"])


def training_processes(cluster: Running) -> list[str]:
    """Ray's actors that train; its own agents and idle workers stay."""
    own = ("IDLE", "JobSupervisor", "Agent")
    titles = processes_below(cluster.process.pid).values()
    return [title for title in titles if title.startswith("ray::") and not any(word in title for word in own)]


def test_a_study_runs_and_every_watcher_sees_every_event_once(
    cluster: Running, client: Client, spec: dict[str, Any]
) -> None:
    study = client.submit(spec)
    before: list[dict[str, Any]] = []
    during: list[dict[str, Any]] = []
    threads = [listen(cluster, study, before)]
    until(lambda: study.read()["counts"]["running"], "a trial runs")
    threads.append(listen(cluster, study, during))
    study.wait(timeout=120)
    for thread in threads:
        thread.join(timeout=30)
    after = list(study.events())
    assert before == during == after
    assert [event["seq"] for event in after] == list(range(1, len(after) + 1))
    kinds = [event["kind"] for event in after]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "study_queued": 1,
        "study_started": 1,
        "trial_started": 6,
        "report": 18,
        "trial_finished": 6,
        "study_finished": 1,
    }
    trials = study.trials()
    assert {trial["state"] for trial in trials} == {"finished"}
    checked = check_study(spec)
    promised = {arm.name: set(checked.metrics_of(arm)) for arm in checked.arms}
    for trial in trials:
        assert set(trial["metrics"]) == promised[trial["arm"]] >= {*COMMON_METRICS, *BOTTLENECK_METRICS}
        assert trial["metrics"]["epoch"] == 3 and trial["lights"]["i_xz_bits"]["light"] == "near"
    low, high = (next(t for t in trials if t["config"].get("weighting.beta") == b) for b in (0.001, 0.1))
    assert high["metrics"]["i_xz_bits"] < low["metrics"]["i_xz_bits"]
    assert low["metrics"]["weight_info"] == pytest.approx(0.001)
    assert study.front()["hypervolume"] > 0


def test_two_studies_run_together_others_wait_and_cancelling_ends_every_process(
    cluster: Running, client: Client, spec: dict[str, Any]
) -> None:
    """One after the other they would each wait for Ray: what is cancelled makes room for what waits."""
    busy = [client.submit(beside(long(spec))) for _ in range(2)]
    third, never = client.submit(beside(spec)), client.submit(spec)
    until(lambda: all(study.read()["progress"] > 0 for study in busy), "two train", 120)
    assert [study.read()["state"] for study in (third, never)] == ["queued", "queued"]
    assert never.cancel()["state"] == "cancelled"
    assert [event["kind"] for event in never.events()] == ["study_queued", "study_cancelled"]
    assert all(driver_of(cluster, study) for study in busy) and training_processes(cluster)
    for study in busy:
        assert study.cancel()["state"] == "cancelled"
    until(lambda: not any(driver_of(cluster, study) for study in busy), "their drivers are gone")
    third.wait(timeout=180)
    until(lambda: not driver_of(cluster, third) and not training_processes(cluster), "nobody trains any more")
    ended = [study.read() for study in busy]
    for study, state in zip(busy, ended, strict=True):
        assert state["state"] == "cancelled" and state["counts"]["stopped"] > 0
        assert any(trial["metrics"] for trial in study.trials()), "its results stay"
        assert list(study.events())[-1]["kind"] == "study_cancelled"
    # By the log, which misses nothing: two together, and the third not before one of them had ended.
    assert max(study["started_at"] for study in ended) < min(study["ended_at"] for study in ended)
    assert third.read()["started_at"] >= min(study["ended_at"] for study in ended)
    assert third.read()["counts"]["finished"] == 6


@pytest.fixture(scope="module")
def limited(cluster: Running) -> Iterator[Callable[[dict[str, Any]], Study]]:
    """A study that ends by its time limit, once: others train meanwhile."""
    with Client(cluster.url, cluster.token) as client:
        yield cache_of_one(lambda spec: client.submit({**beside(long(spec)), "limits": {"seconds": 20}}))


def cache_of_one(make: Callable[[dict[str, Any]], Study]) -> Callable[[dict[str, Any]], Study]:
    made: list[Study] = []

    def get(spec: dict[str, Any]) -> Study:
        if not made:
            made.append(make(spec))
        return made[0]

    return get


def test_a_diverging_trial_fails_by_itself_with_a_reason(
    client: Client, spec: dict[str, Any], limited: Callable[[dict[str, Any]], Study]
) -> None:
    limited(spec)
    arms = [
        {
            "name": "a",
            "weighting": {"name": "fixed", "beta": 0.01},
            "training": {"optimizer": "sgd", "learning_rate": {"grid": [0.01, 1e9]}},
        }
    ]
    study = client.submit({**beside(spec), "arms": arms}).wait(timeout=120)
    states = {(t["config"]["training.learning_rate"], t["state"]) for t in study.trials()}
    assert states == {(0.01, "finished"), (1e9, "failed")}
    assert ["non-finite" in trial["reason"] for trial in study.trials(state="failed")] == [True, True]
    assert study.read()["counts"]["failed"] == 2


def test_a_time_limit_ends_the_study_and_says_so(
    spec: dict[str, Any], limited: Callable[[dict[str, Any]], Study]
) -> None:
    state = limited(spec).wait(timeout=120).read()
    assert state["state"] == "finished" and "time limit of 20 s" in state["reason"]
    assert state["counts"]["finished"] == 0 < state["counts"]["stopped"] and state["progress"] < 1


def test_a_ray_that_dies_is_brought_back_and_the_study_goes_on(
    cluster: Running, client: Client, spec: dict[str, Any]
) -> None:
    study = client.submit(beside(long(spec, epochs=120)))
    until(lambda: study.read()["progress"] > 0.05, "some reports", 180)
    kept, begun = service_pid(cluster), study.read()["counts"]
    [control] = [pid for pid, title in processes_below(cluster.process.pid).items() if "gcs_server " in title[:200]]
    os.kill(control, signal.SIGKILL)
    away = until(lambda: study.read()["interrupted"], "it says that it is interrupted", 120)
    assert study.read()["state"] == "running" and "Ray" in away
    study.wait(timeout=180)
    assert study.read()["interrupted"] is None
    assert service_pid(cluster) == kept, "the service was there all the time"
    assert study.read()["counts"]["finished"] == begun["planned"] == 6
    for trial in study.trials():
        assert [r["epoch"] for r in study.trial(trial["id"])["reports"]] == list(range(1, 121))


def test_an_arm_that_has_spent_its_training_seconds_stops_and_the_other_trains_on(
    client: Client, spec: dict[str, Any]
) -> None:
    """On real Ray: a cohort that is stopped leaves its process, and the next arm finishes in it. What is stopped has
    the curve of its last report.
    """
    every = {"name": "conditional", "points": 2}
    slow = {**spec["arms"][0], "name": "slow", "weighting": every, "training": {"epochs": 10_000}}
    arms = [slow, {**spec["arms"][0], "name": "quick"}]
    whole = {**spec, "arms": arms, "baseline": None, "limits": {"training_seconds": 4}}
    study = client.submit(whole).wait(timeout=180)
    state = study.read()
    assert state["state"] == "finished" and state["progress"] == 1
    assert "slow: its 4 s of training are spent" in state["reason"], state["reason"]
    by_arm = {arm["name"]: arm["counts"] for arm in state["arms"]}
    assert by_arm["slow"]["finished"] == 0 < by_arm["slow"]["stopped"] == by_arm["slow"]["planned"]
    assert by_arm["quick"]["finished"] == by_arm["quick"]["planned"]
    assert all("points" in study.trial(trial["id"])["reports"][-1] for trial in study.trials(arm="slow"))
    comparison = study.comparison()
    assert comparison["budget_seconds"] == 4 and "Each arm had 4.0 s of training: slow spent" in comparison["verdict"]
