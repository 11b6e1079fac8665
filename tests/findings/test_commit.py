"""The commit that a study was measured with: of a real repository, with and without changes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from findings.commit import commit_of, spanned

WHO = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]


def git(tree: Path, *words: str) -> str:
    return subprocess.run(["git", *WHO, *words], cwd=tree, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    for path in ("code.py", "README.md", "docs/page.md"):
        (tmp_path / path).write_text("one\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "first")
    return tmp_path


def test_a_clean_tree_is_its_commit(tree: Path) -> None:
    commit = commit_of(tree)
    assert commit is not None and len(commit) == 10 and git(tree, "rev-parse", "HEAD").startswith(commit)


@pytest.mark.parametrize("path", ["code.py", "new.py"])
def test_changed_code_is_marked(tree: Path, path: str) -> None:
    clean = commit_of(tree)
    (tree / path).write_text("two\n")
    assert commit_of(tree) == f"{clean}+"


def test_texts_that_changed_are_no_other_code(tree: Path) -> None:
    clean = commit_of(tree)
    for path in ("README.md", "docs/page.md", "docs/new.json"):
        (tree / path).write_text("two\n")
    assert commit_of(tree) == clean


def test_where_there_is_no_git_there_is_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert commit_of(tmp_path) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit_of(tmp_path) is None


def test_a_tree_that_moved_while_a_study_ran_is_told() -> None:
    assert spanned("abc", "abc") == "abc"
    assert spanned("abc", "abc+") == "abc to abc+"
    assert spanned(None, "abc") is spanned(None, None) is None
