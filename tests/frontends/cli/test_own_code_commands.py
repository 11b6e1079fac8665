"""`paretoscope new` and `run`: a file to start from, and the study that a file carries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from frontends.own_code import naming
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
    assert naming.named_in((tmp_path / "my_task.yaml").read_text()) == "my_task.py"
    assert len(source.splitlines()) <= 36 and max(map(len, source.splitlines())) <= 120


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


def test_check_takes_a_step_of_every_arm_on_this_machine(tmp_path: Path) -> None:
    run("new", "my_task")
    (tmp_path / "workers.py").touch()  # what lies beside the study is in nobody's way
    with (tmp_path / "my_task.py").open("a") as file:
        file.write("print({'a': 1})\nprint('{\"arm\": 1')\n")  # what the code prints neither
    said = run("check", "my_task.yaml", "--json", "--seconds", "250")
    assert said.returncode == 0, said.stderr
    arms = json.loads(said.stdout)
    assert [(arm["arm"], arm["trials"]) for arm in arms] == [("by hand", 15), ("UPGrad", 3), ("MGDA", 3)]
    for arm in arms:
        assert arm["first_metrics"].keys() >= {"acc", "mae"} and "stacked" in arm["words"]
        assert arm["losses"].keys() == arm["weights"].keys() == {"class", "price"} and arm["apart"] < 1e-3
    assert arms[0]["weights"]["price"] == pytest.approx(0.03)
    assert sum(arms[2]["weights"].values()) == pytest.approx(1, abs=1e-3), "MGDA was asked"


def test_check_says_what_is_wrong_by_the_users_own_line(tmp_path: Path) -> None:
    run("new", "my_task")
    source = (tmp_path / "my_task.py").read_text()
    (tmp_path / "my_task.py").write_text(source.replace('hits.float().mean(), "mae"', 'hits, "mae"'))
    said = run("check", "my_task.yaml", "--seconds", "250")
    line = source[: source.index("def measure")].count("\n") + 1
    assert said.returncode == 2 and f"my_task.py:{line}" in said.stderr.replace("\n", ""), said.stderr


@pytest.mark.parametrize("command", ["submit", "run"])
def test_what_only_a_studys_own_values_bring_out_is_found_before_it_is_sent(tmp_path: Path, command: str) -> None:
    run("new", "my_task")
    source, study = ((tmp_path / f"my_task.{kind}").read_text() for kind in ("py", "yaml"))
    fault = "    def model(self):\n        assert self.width != 13, 'unlucky'\n"
    (tmp_path / "my_task.py").write_text(source.replace("    def model(self):\n", fault))
    nowhere = ("--check", "--url", "http://127.0.0.1:9")
    if command == "submit":
        fine = run(command, "my_task.yaml", *nowhere)
        assert fine.returncode == 1 and "no answer from" in " ".join(fine.stderr.split()), "tried, then sent"
    (tmp_path / "my_task.yaml").write_text(study.replace("width: 32", "width: 13"))
    said = run(command, "my_task.yaml", *nowhere)
    line = source[: source.index("def model")].count("\n") + 2
    words = "".join(said.stderr.split())
    assert said.returncode == 2 and f"my_task.py:{line}" in words and "unlucky" in words, said.stderr


def test_check_tries_studies_without_code_too(tmp_path: Path) -> None:
    arms = "[{name: a, weighting: {name: fixed, beta: {grid: [0.01, 0.1]}}}, {name: b, weighting: {name: mib}}]"
    (tmp_path / "plain.yaml").write_text(f"name: s\nmodel: {{name: mlp, widths: [8], latent: 2}}\narms: {arms}\n")
    said = run("check", "plain.yaml", "--json", "--seconds", "250")
    assert said.returncode == 0, said.stderr
    first, second = json.loads(said.stdout)
    assert first["weights"] == {"pred": 1, "info": pytest.approx(0.01)} and first["apart"] < 1e-3
    assert second["weights"]["info"] != 1 and second["first_metrics"].keys() == {"i_xz_bits", "i_zy_bits"}


SCRIPT = """
import time
from paretoscope import trainable

@trainable(metrics={"a": "minimize", "b": "minimize"})
def mine(trial, how: str = "reports"):
    if how == "raises":
        raise ValueError("no")
    while how == "waits":
        time.sleep(0.01)
    trial.report(a=1.0, b=2.0)
    raise RuntimeError("nobody asked for more")
"""


def scripts(folder: Path, *ways: str) -> None:
    """A study with an arm for each way to go on."""
    (folder / "mine.py").write_text(SCRIPT)
    arms = ", ".join(f"{{name: {how}, problem: {{name: mine, how: {how}}}}}" for how in ways)
    (folder / "s.yaml").write_text(f"name: s\ncode: mine.py\narms: [{arms}]\n")


def test_check_runs_a_script_until_its_first_report_or_for_as_long_as_it_may(tmp_path: Path) -> None:
    scripts(tmp_path, "waits", "reports")
    said = run("check", "s.yaml", "--seconds", "3")
    words = " ".join(said.stdout.split())
    assert said.returncode == 0 and "a script: it reports a 1.00, b 2.00" in words, said.stderr
    assert "a script: it had made no report after 3 s, and was ended" in words


def test_check_says_where_a_script_raised(tmp_path: Path) -> None:
    scripts(tmp_path, "raises")
    said = run("check", "s.yaml", "--seconds", "250")
    assert said.returncode == 2 and "mine.py:8: ValueError: no" in " ".join(said.stderr.split()), said.stderr


def test_check_is_over_in_time(tmp_path: Path) -> None:
    run("new", "my_task")
    source = (tmp_path / "my_task.py").read_text()
    (tmp_path / "my_task.py").write_text(source.replace("x = torch.randn", "while True: pass\n        x = torch.randn"))
    said = run("check", "my_task.yaml", "--seconds", "1")
    assert said.returncode == 2 and "arm 'by hand' took longer than 1 s" in " ".join(said.stderr.split()), said.stderr
