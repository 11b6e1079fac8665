"""Code of your own on a real Ray: a problem in a folder, and its faults. `test_forest` has a script."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from frontends.client import Client, ClientError
from tests.processes import Running

pytestmark = pytest.mark.timeout(240)

NETS = """
from torch import nn


def net(width):
    body = nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Dropout(0.1), nn.Linear(width, 1))
    return nn.ModuleDict({"body": body, "a": nn.Linear(1, 1), "b": nn.Linear(1, 1)})
"""
MAIN = """
import torch
from nets import net

from paretoscope import Problem


class Both(Problem):
    \"\"\"Two sums of six numbers through one number.\"\"\"

    terms = ("a", "b")
    metrics = {"error-a": "minimize", "error-b": "minimize"}
    width: int = 8
    looks: bool = False  # at a tensor's value, which members that train together do not have

    def data(self, seed):
        x = torch.randn(600, 6, generator=torch.Generator().manual_seed(seed))
        part = lambda rows: (rows, rows[:, :3].sum(1, keepdim=True), rows[:, 3:].sum(1, keepdim=True))
        return {"train": part(x[:400]), "test": part(x[400:])}

    def model(self):
        return net(self.width)

    def losses(self, model, batch):
        x, a, b = batch
        z = model["body"](x)
        if self.looks and float(z.mean()) > 1e9:
            z = z / 2
        return {"a": (model["a"](z) - a).square().mean(), "b": (model["b"](z) - b).square().mean()}

    def measure(self, model, batch):
        x, a, b = batch
        z = model["body"](x)
        return {"error-a": (model["a"](z) - a).abs().mean(), "error-b": (model["b"](z) - b).abs().mean()}
"""


@pytest.fixture
def client(cluster: Running) -> Iterator[Client]:
    with Client(cluster.url, cluster.token) as client:
        yield client


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "nets.py").write_text(NETS)
    return tmp_path


def study_of(folder: Path, *arms: dict[str, Any], **changed: Any) -> dict[str, Any]:
    whole = {"name": "own", "code": str(folder), "seeds": [0, 1, 2], "arms": list(arms), **changed}
    return {**whole, "resources": {"concurrency": 1}}


def test_a_problem_is_trained_by_every_kind_of_weighting_and_judged(client: Client, folder: Path) -> None:
    grid = {"name": "fixed", "beta": {"grid": [0.02, 1.0, 50.0]}}
    arms = [
        {"name": "by hand", "problem": {"name": "Both", "width": 8}, "weighting": grid},
        {"name": "MGDA", "problem": {"name": "Both"}, "weighting": {"name": "mgda"}},
        {"name": "DWA", "problem": {"name": "Both"}, "weighting": {"name": "dwa"}},
    ]
    spec = study_of(folder, *arms, training={"epochs": 12, "batch_size": 64, "learning_rate": 0.01})
    study = client.submit(spec).wait(timeout=200)
    state = study.read()
    assert state["counts"]["finished"] == 15, state["reason"]
    assert state["spec"]["code"]["problems"][0]["doc"] == "Two sums of six numbers through one number."
    by_beta: dict[float, list[float]] = {}
    for trial in study.trials(arm="by hand"):
        metrics = trial["metrics"]
        assert metrics["weight_b"] == pytest.approx(trial["config"]["weighting.beta"])
        assert {"loss_a", "test_loss_b", "validation_error-a"} <= metrics.keys()
        by_beta.setdefault(trial["config"]["weighting.beta"], []).append(metrics["error-a"] - metrics["error-b"])
    assert max(by_beta[0.02]) < 0 < min(by_beta[50.0]), "a weight on b costs a"
    comparison = study.comparison()
    assert comparison["baseline"] == "by hand" and "front" in comparison["verdict"]
    assert all(arm["hypervolume"]["mean"] is not None for arm in comparison["arms"])


def test_why_members_do_not_train_together_is_in_the_log_of_a_trial(client: Client, folder: Path) -> None:
    training = {"epochs": 1, "batch_size": 64}
    arms = [
        {"name": name, "problem": {"name": "Both", "looks": name == "looks"}, "weighting": {"name": "uniform"}}
        for name in ("looks", "does not")
    ]
    study = client.submit(study_of(folder, *arms, training=training)).wait(timeout=120)
    assert study.read()["counts"]["finished"] == 6
    told = {}
    for arm in ("looks", "does not"):
        trial = study.trials(arm=arm)[0]["id"]
        lines = client.request("GET", f"/api/studies/{study.id}/trials/{trial}")["log"]
        [told[arm]] = [line for line in lines if "training, " in line and "test examples" in line]
    assert "; not stacked: RuntimeError: " in told["looks"], told
    assert "; stacked: 3 members together" in told["does not"] or "together take" in told["does not"], told


def test_a_fault_is_told_by_the_users_own_line(client: Client, folder: Path) -> None:
    (folder / "nets.py").write_text("import not_there\n")
    with pytest.raises(ClientError, match=r"^nets.py, line 1: ModuleNotFoundError: No module named 'not_there'"):
        client.submit(study_of(folder))
    (folder / "nets.py").write_text(NETS.replace('"body": body', '"bodi": body'))
    line = MAIN.splitlines().index('        z = model["body"](x)') + 1
    with pytest.raises(ClientError, match=rf"^main.py, line {line}: KeyError: 'body'"):  # before anything is trained
        client.submit(study_of(folder))
