"""Problems of an installed package, and packages that code asks for, on a real Ray; a code is measured like ours."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from frontends.client import Client
from service.launching.packaged import GROUP
from tests.end_to_end.test_own_code import MAIN, NETS
from tests.processes import short_home, up
from tests.workers.own_code.test_bottleneck_again import FILE
from tests.workers.own_code.test_packages import wheel

pytestmark = pytest.mark.timeout(300)


def test_an_installed_package_a_wheel_beside_the_code_and_a_code_to_measure(tmp_path: Path) -> None:
    site, folder = tmp_path / "site", tmp_path / "asks"
    info = site / "their_tasks-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-tasks\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nshell = their_tasks.main:shell\n")
    (site / "their_tasks").mkdir()
    (site / "their_tasks" / "main.py").write_text(MAIN.replace("from nets", "from .nets"))
    (site / "their_tasks" / "nets.py").write_text(NETS)
    (folder / "wheels").mkdir(parents=True)
    wheel(folder, "tiny_greeting", "WIDTH = 6\n")
    (folder / "main.py").write_text(f"from tiny_greeting import WIDTH\n{FILE}")
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    with short_home() as home, up(home, PYTHONPATH=path) as running, Client(running.url, running.token) as client:
        arm = {"name": "a", "problem": {"name": "shell", "x": {"grid": [0.1, 0.9]}}}
        packaged = client.submit({"name": "packaged", "code": "package:their-tasks", "arms": [arm]}).wait(timeout=120)
        assert packaged.read()["counts"]["finished"] == 2, packaged.read()["reason"]
        coded = {
            "name": "coded",
            "code": str(folder),
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
