"""Code of your own that goes wrong while it trains, on a real Ray: it is ended, named by its line and harms nobody."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from frontends.client import Client, ClientError, Study
from tests.end_to_end.test_studies import training_processes
from tests.processes import Running, until

pytestmark = pytest.mark.timeout(300)

BAD = """
import time

import torch

from paretoscope import Problem


class Bad(Problem):
    terms = ("a", "b")
    metrics = {"error": "minimize", "size": "minimize"}
    how: str = "well"

    def data(self, seed):
        x = torch.randn(64, 4, generator=torch.Generator().manual_seed(seed))
        return {"train": (x, x.sum(1, keepdim=True)), "test": (x, x.sum(1, keepdim=True))}

    def model(self):
        return torch.nn.Linear(4, 1)

    def losses(self, model, batch):
        x, y = batch
        while self.how == "endless":
            time.sleep(0.001)
        if self.how == "greedy":
            kept = [torch.empty(10**9 // 4) for _ in range(10)]
        if self.how == "leaves":
            raise SystemExit(3)
        if self.how == "nan":
            return {"a": model(x).sum() * float("nan"), "b": model(x).square().mean()}
        return {"a": (model(x) - y).square().mean(), "b": model(x).square().mean()}

    def measure(self, model, batch):
        x, y = batch
        return {"error": (model(x) - y).abs().mean(), "size": model(x).abs().mean()}
"""
LINES = {line.strip(): i for i, line in enumerate(BAD.splitlines(), start=1)}


@pytest.fixture
def client(cluster: Running) -> Iterator[Client]:
    with Client(cluster.url, cluster.token) as client:
        yield client


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "bad.py").write_text(BAD)
    return tmp_path / "bad.py"


def study_of(file: Path, *ways: str, **changed: Any) -> dict[str, Any]:
    """An arm for each way to go wrong."""
    arms = [{"name": how, "problem": {"name": "Bad", "how": how}, "weighting": {"name": "mgda"}} for how in ways]
    return {"name": "bad", "code": str(file), "training": {"epochs": 2, "batch_size": 32}, "arms": arms, **changed}


def said_by(study: Study) -> dict[str, tuple[str, str]]:
    """By arm: its trial's state, and why."""
    return {trial["arm"]: (trial["state"], trial["reason"] or "") for trial in study.trials()}


def test_each_fault_fails_its_own_trials_with_the_line_and_an_endless_loop_at_the_time_limit(
    client: Client, file: Path
) -> None:
    """The limit of one study is waited for while the other has its faults beside it."""
    hanging = client.submit(study_of(file, "well", "endless", limits={"seconds": 45}))
    until(lambda: said_by(hanging)["well"][0] == "finished", "what is well to end", 150)
    study = client.submit(study_of(file, "greedy", "leaves", "nan", "well")).wait(timeout=240)
    said = said_by(study)
    assert said["well"][0] == "finished", "a study beside it is not harmed"
    assert {state for arm, (state, _) in said.items() if arm != "well"} == {"failed"}
    greedy = f"bad.py:{LINES['kept = [torch.empty(10**9 // 4) for _ in range(10)]']}: out of memory"
    assert f"{greedy}: this process may use 6 GB" in said["greedy"][1]
    assert f"bad.py:{LINES['raise SystemExit(3)']}: it ended the process: sys.exit(3)" in said["leaves"][1]
    losses = LINES["def losses(self, model, batch):"]
    assert f"bad.py:{losses}: loss_a became non-finite in epoch 1, step 1" in said["nan"][1]
    ended = said_by(hanging.wait(timeout=240))
    assert ended["well"][0] == "finished" and ended["endless"][0] == "failed", ended
    place = LINES['while self.how == "endless":']
    assert any(
        f"bad.py:{line}: StillRunning: the study's limits.seconds" in ended["endless"][1] for line in (place, place + 1)
    )


def test_an_endless_loop_can_be_paused_and_cancelled(cluster: Running, client: Client, file: Path) -> None:
    study = client.submit(study_of(file, "endless"))
    until(lambda: study.trials()[0]["state"] == "running", "the trial to run", 120)
    study.pause()
    until(lambda: not study.read().get("pausing"), "its processes to have left", 120)
    assert study.trials()[0]["state"] == "planned", "it begins anew when the study goes on"
    study.resume()
    until(lambda: study.trials()[0]["state"] == "running", "the trial to run again", 120)
    study.cancel()
    assert study.wait(timeout=120).read()["state"] == "cancelled"
    until(lambda: not training_processes(cluster), "the cluster is free again", 120)


@pytest.mark.parametrize("name", ["workers.py", "service.py"])
def test_a_file_called_like_a_package_of_ours_is_refused_and_harms_nobody(
    client: Client, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text(BAD)
    package = name.removesuffix(".py")
    rule = rf"^{name}: a file or folder of the code may not be called '{package}', which is a package of Paretoscope"
    with pytest.raises(ClientError, match=rule) as refused:
        client.submit(study_of(tmp_path / name, "well"))
    assert refused.value.status == 422
    (tmp_path / "main.py").write_text(BAD)
    with pytest.raises(ClientError, match=rule):  # beside another file too
        client.submit(study_of(tmp_path, "well"))
    assert client.catalog()["problems"]


def test_a_folder_of_200_mb_is_refused_here_and_by_the_service(
    client: Client, tmp_path: Path, cluster: Running
) -> None:
    (tmp_path / "main.py").write_text(BAD)
    with (tmp_path / "data.bin").open("wb") as file:
        file.truncate(200_000_000)
    with pytest.raises(ClientError, match=r"has 200,\d{3},\d{3} bytes, over the limit of 20,000,000") as refused:
        client.submit(study_of(tmp_path, "well"))
    assert refused.value.status == 413
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(tmp_path / "main.py", "main.py")
        archive.write(tmp_path / "data.bin", "data.bin")
    headers = {"Content-Type": "application/zip"}
    answer = cluster.post("/api/code", content=packed.getvalue(), headers=headers)
    assert answer.status_code == 413 and "over the limit of 20,000,000" in answer.text
    assert client.catalog()["problems"]
