"""What is installed of a package, in one number."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from service.contract.packages.installed import digest_of, must_be


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    info = tmp_path / "their_tasks-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-tasks\nVersion: 1.0\n")
    folder = tmp_path / "their_tasks"
    (folder / "inner").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (folder / "inner" / "deep.py").write_text("X = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


def test_it_follows_every_file_but_what_a_machine_makes_of_them(package: Path) -> None:
    before = digest_of(["their_tasks"])
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "deep.pyc").write_bytes(b"1")
    assert digest_of(["their_tasks"]) == before
    (package / "inner" / "deep.py").write_text("X = 22\n")
    changed = digest_of(["their_tasks"])
    (package / "data.csv").write_text("1\n")
    assert len({before, changed, digest_of(["their_tasks"])}) == 3
    assert "their_tasks" not in sys.modules


def test_a_module_of_one_file_counts_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "their_file.py").write_text("X = 1\n")
    importlib.invalidate_caches()
    before = digest_of(["their_file"])
    (tmp_path / "their_file.py").write_text("X = 3.5\n")
    assert digest_of(["their_file"]) != before != digest_of(["nobody_has_this"])


def test_what_is_not_what_it_was_is_refused_with_what_is_here(package: Path) -> None:
    was = digest_of(["their_tasks"])
    must_be("their-tasks", ["their_tasks"], "1.0", was)
    with pytest.raises(RuntimeError, match=r"their-tasks 1.0 is installed here, but .* submitted with 0.9: install"):
        must_be("their-tasks", ["their_tasks"], "0.9", was)
    (package / "inner" / "deep.py").write_text("X = 20\n")
    with pytest.raises(RuntimeError, match=r"their-tasks 1.0 is installed here with other files"):
        must_be("their-tasks", ["their_tasks"], "1.0", was)
