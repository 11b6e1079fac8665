"""`make bench ARGS=before`: an older tree and this one in turns, each row as the first over the second."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from findings.folder import ROOT
from findings.speed import load_speed
from tests.benchmarks import before, grid, in_a_tree
from tests.benchmarks.__main__ import main
from tests.benchmarks.before import PARTS, Tree, Values, compared


def test_each_round_has_both_trees_and_who_begins_alternates(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Path] = []
    seconds = {tmp_path / "older": iter([4.0, 6.0, 8.0]), ROOT: iter([2.0, 2.0, 2.0])}

    def measure(tree: Tree) -> Values:
        asked.append(tree.root)
        return {"sleep": next(seconds[tree.root])}

    monkeypatch.setattr(before, "PARTS", {"rest": (measure, {"sleep": ("a night", "s")})})
    monkeypatch.setattr(Tree, "compile", lambda self: None)
    (row,) = compared(tmp_path / "older", tmp_path, [], rounds=3)
    older = tmp_path / "older"
    assert asked == [older, ROOT, ROOT, older, older, ROOT]
    assert row.what == "a night: before / now" and row.key == "before-sleep" and row.group == "before"
    assert (row.ratio, row.between, row.first, row.second) == (3.0, (2.0, 4.0), 6.0, 2.0)
    assert capsys.readouterr().out.splitlines()[0] == "rest 0 before {'sleep': 4.0}", "as each round ends"


def test_a_tree_trains_a_cohort_in_its_own_python(tmp_path: Path) -> None:
    spec = {**grid.study(6), "training": {"epochs": 1}}
    here = Tree(ROOT, Path(sys.executable), tmp_path)
    (seconds,) = here.says("cohort", asked={"specs": [spec], "members": 2})
    assert 0 < seconds < 60


def test_a_name_is_imported_from_where_the_tree_has_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "store_of_then.py").write_text("Store = 'of then'\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(in_a_tree.PLACES, "SqlStore", ("store_of_now:SqlStore", "store_of_then:Store"))
    assert in_a_tree.imported("SqlStore") == "of then"
    monkeypatch.setitem(in_a_tree.PLACES, "SqlStore", ("store_of_now:SqlStore", "store_of_then:Gone"))
    with pytest.raises(ImportError, match="no SqlStore: neither store_of_now:SqlStore nor store_of_then:Gone"):
        in_a_tree.imported("SqlStore")


@pytest.mark.parametrize("words", [["before"], ["log", "--older", "."]])
def test_an_older_tree_is_asked_for_with_its_folder(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(words)
    assert "before and --older belong together" in capsys.readouterr().err


def test_what_is_kept_is_whole_parts() -> None:
    kept = {key for key, row in load_speed().rows.items() if row.group == "before"}
    parts = [{f"before-{key}" for key in rows} for _, rows in PARTS.values()]
    assert kept == set().union(*(part for part in parts if part & kept)) and kept
