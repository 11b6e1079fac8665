"""Tests that take the cluster stay together and come first, and no long file last."""

from __future__ import annotations

import re
from pathlib import Path

from tests.order import ON_RAY, ROOT, TURNS, in_turn, takes_the_cluster, together

FILES = [str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")]


def test_whoever_takes_the_cluster_is_one_piece_of_work() -> None:
    taking = [file for file in FILES if takes_the_cluster(file)]
    assert len(taking) > 10 and {together(f"{file}::test") for file in taking} == {ON_RAY}
    others = [file for file in FILES if file not in taking]
    assert [together(f"{file}::test[a::b]") for file in others] == others


def test_no_file_elsewhere_takes_the_cluster() -> None:
    elsewhere = [file for file in FILES if not file.startswith("tests/end_to_end/")]
    assert [file for file in elsewhere if re.search(r"\bcluster: Running", Path(ROOT, file).read_text())] == []


def test_the_order_is_the_clusters_then_what_is_named_then_the_trees() -> None:
    assert all((ROOT / place).exists() for place in TURNS)
    first, last = "tests/end_to_end/test_studies.py", "tests/test_names.py"
    named = [place if place.endswith(".py") else f"{place}test_own.py" for place in TURNS if "end_to_end" not in place]
    turns = sorted((f"{file}::test" for file in [last, *reversed(named), first]), key=in_turn)
    assert [nodeid.partition("::")[0] for nodeid in turns] == [first, *named, last]
