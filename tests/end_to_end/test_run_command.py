"""`paretoscope run` with a file that carries its study, where no service answers: one is started, and ends with it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import environment, short_home
from tests.workers.own_code.parts import two_heads

pytestmark = pytest.mark.timeout(480)

STUDY = """
study = {
    "name": "mine",
    "seeds": [0, 1],
    "training": {"epochs": 1},
    "arms": [{"name": "MGDA", "problem": {"name": "Mine"}, "weighting": {"name": "mgda"}}],
}
"""


def test_a_file_with_its_study_is_run_without_a_service(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(two_heads() + STUDY)
    with short_home() as home:
        command = [str(Path(sys.executable).with_name("paretoscope")), "run", "mine.py", "--watch", "--json"]
        said = subprocess.run(
            command,
            cwd=tmp_path,
            env=environment(PARETOSCOPE_HOME=str(home)),
            capture_output=True,
            text=True,
            timeout=420,
            check=False,
        )
    assert said.returncode == 0, said.stdout + said.stderr
    ended = json.loads(said.stdout.splitlines()[-1])
    assert ended["study"]["counts"]["finished"] == 2 and ended["comparison"]["verdict"]
