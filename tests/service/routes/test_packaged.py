"""Problems of installed packages, named by their entry points."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.launching.packaged import GROUP
from tests.processes import short_home
from tests.service.bench import Bench
from tests.service.own_code import PROBLEM, SCRIPT


@pytest.fixture
def bench() -> Iterator[Bench]:
    with short_home() as home:
        bench = Bench(home, token="owner", driver_tokens=home / "drivers")
        yield bench
        bench.close()


def installed(folder: Path, version: str, points: str) -> None:
    info = folder / f"their_tasks-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: Their-Tasks\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{points}")


def submitted(bench: Bench, package: str) -> tuple[int, Any]:
    arm = {"name": "a", "problem": {"name": "Mine"}, "weighting": {"name": "mgda"}}
    body = {"name": "s", "code": f"package:{package}", "arms": [arm]}
    answer = bench.ask("POST", "/api/studies", json=body)
    return answer.status_code, answer.json()


def test_a_package_is_read_once_per_version(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path / "one"))
    installed(tmp_path / "one", "1.0", "Mine = their_tasks.problems:Mine\nforest = their_tasks.trees:forest\n")
    status, said = submitted(bench, "their-tasks")
    assert status == 409
    (detail,) = said["error"]["details"]
    code = detail["message"]
    assert detail["path"] == "code" and bench.cluster.submitted[-1].entrypoint.endswith(code)
    assert "their_tasks" not in sys.modules, "the service never imports it"
    bench.ask("POST", f"/api/code/{code}/description", json={"problems": [PROBLEM, SCRIPT]})
    status, said = submitted(bench, "Their_Tasks")
    assert status == 201 and said["spec"]["code"]["hash"] == code
    monkeypatch.syspath_prepend(str(tmp_path / "two"))
    installed(tmp_path / "two", "2.0", "Mine = their_tasks.problems:Mine\n")
    assert submitted(bench, "their-tasks")[0] == 409, "another version is read again"


def test_a_package_that_is_not_there_or_names_no_class_is_refused(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    installed(tmp_path, "1.0", "Mine = their_tasks.problems\n")
    status, said = submitted(bench, "nobody")
    assert status == 422 and "known: their-tasks" in str(said)
    status, said = submitted(bench, "their-tasks")
    assert status == 422 and "must name a class or function as module:Name, got 'their_tasks.problems'" in str(said)


def test_a_package_whose_files_changed_is_read_again(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    installed(tmp_path, "1.0", "Mine = their_tasks.problems:Mine\n")
    (tmp_path / "their_tasks").mkdir()
    problems = tmp_path / "their_tasks" / "problems.py"
    problems.write_text("Mine = 1\n")
    first = submitted(bench, "their-tasks")[1]["error"]["details"][0]["message"]
    assert submitted(bench, "their-tasks")[1]["error"]["details"][0]["message"] == first
    problems.write_text("Mine = 22\n")
    assert submitted(bench, "their-tasks")[1]["error"]["details"][0]["message"] != first
    assert "their_tasks" not in sys.modules
