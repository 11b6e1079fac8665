"""Problems of an installed package, and packages that code asks for, on a real Ray; a code is measured like ours."""

from __future__ import annotations

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
