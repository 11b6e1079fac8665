from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.processes import BIN, Running, environment


def run(*arguments: str, url: str = "http://127.0.0.1:9") -> subprocess.CompletedProcess[str]:
    command = [str(BIN / "paretoscope"), *arguments]
    return subprocess.run(
        command, env=environment(PARETOSCOPE_URL=url), capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name: x\narms: [", ["line 2", "not YAML"]),
        (
            "name: x\narms:\n  - name: a\n    weighting: {name: fxied}\n",
            ["arms[0].weighting.name", "line 4", "fixed", "mib"],
        ),
        ("name: x\narms:\n  - name: a\n    weighting: {name: fixed, beta: -1}\n", ["arms[0].weighting.beta", "-1"]),
    ],
)
def test_a_bad_study_is_exit_code_2_with_path_and_line(
    service: Running, tmp_path: Path, text: str, words: list[str]
) -> None:
    file = tmp_path / "study.yaml"
    file.write_text(text)
    answer = run("submit", str(file), url=service.url)
    assert answer.returncode == 2, answer
    for word in words:
        assert word in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_file_that_is_not_there_and_an_unknown_command_are_bad_input(service: Running) -> None:
    assert run("submit", "/nowhere.yaml", url=service.url).returncode == 2
    assert run("frobnicate").returncode == 2
    assert run("show", "nope", url=service.url).returncode == 2


def test_no_service_is_a_failure_that_says_what_to_do() -> None:
    answer = run("list")
    assert answer.returncode == 1 and "paretoscope up" in answer.stderr


def test_studies_are_submitted_listed_shown_and_cancelled(
    service: Running, tmp_path: Path, spec: dict[str, Any]
) -> None:
    file = tmp_path / "study.json"
    file.write_text(json.dumps(spec))
    submitted = json.loads(run("submit", str(file), "--json", url=service.url).stdout)
    study = submitted["id"]
    assert study in run("list", url=service.url).stdout
    assert json.loads(run("list", "--state", "queued", "--json", url=service.url).stdout)[0]["id"] == study
    shown = run("show", study, url=service.url)
    assert shown.returncode == 0 and "manual β" in shown.stdout
    assert "cancelled" in run("cancel", study, url=service.url).stdout
    assert run("cancel", study, url=service.url).returncode == 2
    assert run("watch", study, url=service.url).returncode == 1


def test_presets_are_listed_with_what_they_ask(service: Running) -> None:
    assert "beta-vs-mib-digits" in run("presets", url=service.url).stdout
