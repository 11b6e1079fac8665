"""Problems of an installed package, and packages that code asks for, on a real Ray; a code is measured like ours."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from frontends.client import Client
from tests.processes import Running
from tests.workers.own_code.test_bottleneck_again import FILE
from tests.workers.own_code.test_packages import wheel

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def client(cluster: Running) -> Iterator[Client]:
    with Client(cluster.url, cluster.token) as client:
        yield client


def test_a_script_of_an_installed_package_asks_a_shell(client: Client) -> None:
    arm = {"name": "a", "problem": {"name": "shell", "x": {"grid": [0.1, 0.9]}}}
    spec = {"name": "packaged", "code": "package:their-tasks", "seeds": [0, 1], "arms": [arm]}
    study = client.submit({**spec, "resources": {"concurrency": 1}}).wait(timeout=120)
    assert study.read()["counts"]["finished"] == 4, study.read()["reason"]
    for trial in study.trials():
        x, metrics = trial["config"]["problem.x"], trial["metrics"]
        assert (metrics["gain"], metrics["cost"]) == pytest.approx((x + 0.001 * trial["seed"], x * x))
    front = study.front()["points"]
    assert [point["x"] for point in front] == pytest.approx([0.101, 0.901]), "the gain, of the better seed"
    assert [point["y"] for point in front] == pytest.approx([0.01, 0.81])


def test_a_wheel_beside_the_code_and_a_code_to_measure(client: Client, tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    wheel(tmp_path, "tiny_greeting", "WIDTH = 6\n")
    (tmp_path / "main.py").write_text(f"from tiny_greeting import WIDTH\n{FILE}")
    coded = {
        "name": "coded",
        "code": str(tmp_path),
        "training": {"epochs": 3, "learning_rate": 0.003},
        "evaluation": {"attacks": [{"name": "fgsm", "epsilon": 0.1}], "latent_map": {"points": 50}},
        "arms": [{"name": "a", "problem": {"name": "Vib"}, "weighting": {"name": "fixed", "beta": 0.001}}],
    }
    study = client.submit(coded).wait(timeout=120)
    (trial,) = study.trials()
    assert trial["state"] == "finished", trial["reason"]
    assert trial["metrics"]["i_xz_bits"] > 1 and trial["metrics"]["i_zy_bits"] > 0.5
    assert trial["metrics"]["robust_fgsm"] < trial["metrics"]["accuracy"]
    for figure in ("information-plane", "latent-map"):
        assert client.request("GET", f"/api/studies/{study.id}/figures/{figure}")["data"]


PACKAGE = "einops==0.8.1"  # installed nowhere here
ASKS = """
import einops
import numpy

from paretoscope import trainable


@trainable(metrics={"mean": "maximize", "version": "minimize"})
def turned(trial, rows: int = 2):
    whole = einops.rearrange(numpy.arange(rows * 3.0), "(a b) -> b a", a=rows)
    assert whole.shape == (3, rows)
    trial.report(mean=whole.mean(), version=float(einops.__version__.rpartition(".")[0]))
"""


def test_a_package_from_an_index_that_the_study_asks_for(client: Client, tmp_path: Path) -> None:
    """Skipped where no index of packages answers."""
    asked = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(tmp_path), PACKAGE]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        pytest.skip(f"no index of packages answers: {done.stderr.strip().splitlines()[-1:]}")
    (tmp_path / "asks.py").write_text(ASKS)
    arm = {"name": "a", "problem": {"name": "turned", "rows": {"grid": [2, 4]}}}
    spec = {"name": "asks", "code": str(tmp_path / "asks.py"), "requirements": [PACKAGE], "seeds": [0], "arms": [arm]}
    study = client.submit(spec).wait(timeout=120)
    assert study.read()["counts"]["finished"] == 2, study.read()["reason"]
    assert [t["metrics"]["mean"] for t in study.trials()] == [2.5, 5.5]
    assert {t["metrics"]["version"] for t in study.trials()} == {0.8}
    assert importlib.util.find_spec("einops") is None, "only the processes that asked for it find it"
