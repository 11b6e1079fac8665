"""`paretoscope new` and `run`: a file to start from, and the study that a file carries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from frontends import own_code
from tests.frontends.cli.command_line import run


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_new_writes_a_problem_and_its_study(tmp_path: Path) -> None:
    said = run("new", "my_task")
    assert said.returncode == 0 and "paretoscope submit my_task.yaml --watch" in said.stdout.replace("\n", " ")
    study = yaml.safe_load((tmp_path / "my_task.yaml").read_text())
    source = (tmp_path / "my_task.py").read_text()
    assert study["code"] == "my_task.py" and study["problem"]["name"] == "MyTask" and "class MyTask(Problem)" in source
    compile(source, "my_task.py", "exec")
    assert own_code.named_in((tmp_path / "my_task.yaml").read_text()) == "my_task.py"
    assert {**own_code.study_in(tmp_path / "my_task.py"), "code": "my_task.py"} == study


def test_new_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "my_task.yaml").write_text("mine")
    said = run("new", "my_task")
    assert said.returncode == 2 and "my_task.yaml is there already" in said.stderr
    assert (tmp_path / "my_task.yaml").read_text() == "mine" and not (tmp_path / "my_task.py").exists()


@pytest.mark.parametrize("name", ["my-task", "1task", "../task", ""])
def test_a_name_that_python_cannot_import_is_refused(tmp_path: Path, name: str) -> None:
    said = run("new", name)
    assert said.returncode == 2 and "Python can import" in " ".join(said.stderr.split())
    assert not list(tmp_path.iterdir())


def test_with_json_a_machine_reads_what_was_written() -> None:
    assert json.loads(run("new", "task", "--json").stdout) == {"files": ["task.py", "task.yaml"]}


def test_run_needs_the_service_that_it_was_told_of(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("study = {'name': 's', 'arms': []}\n")
    said = run("run", "mine.py", "--url", "http://127.0.0.1:9")
    assert said.returncode == 1 and "no answer from http://127.0.0.1:9" in " ".join(said.stderr.split())


def test_check_tries_every_arm_on_this_machine(tmp_path: Path) -> None:
    run("new", "my_task")
    (tmp_path / "workers.py").touch()  # what lies beside the study is in nobody's way
    said = run("check", "my_task.yaml", "--json")
    assert said.returncode == 0, said.stderr
    arms = json.loads(said.stdout)
    assert [(arm["arm"], arm["trials"]) for arm in arms] == [("by hand", 15), ("UPGrad", 3), ("MGDA", 3)]
    assert all(arm["first_metrics"].keys() >= {"acc", "mae"} and "stacked" in arm["words"] for arm in arms)


def test_check_says_what_is_wrong_by_the_users_own_line(tmp_path: Path) -> None:
    run("new", "my_task")
    source = (tmp_path / "my_task.py").read_text()
    (tmp_path / "my_task.py").write_text(source.replace('hits.float().mean(), "mae"', 'hits, "mae"'))
    said = run("check", "my_task.yaml")
    line = source[: source.index("def measure")].count("\n") + 1
    assert said.returncode == 2 and f"my_task.py:{line}" in said.stderr.replace("\n", ""), said.stderr
    (tmp_path / "plain.yaml").write_text("name: s\narms: []\n")
    assert "names no code" in run("check", "plain.yaml").stderr
