"""Tests that take the cluster stay together and come first, and no long file last."""

from __future__ import annotations

import re
from pathlib import Path

from tests.order import ON_RAY, RAYS, ROOT, TURNS, WITH_A_RAY, in_turn, takes_the_cluster, together

FILES = [str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")]


def test_whoever_takes_the_cluster_is_one_piece_of_work() -> None:
    taking = [file for file in FILES if takes_the_cluster(file)]
    assert len(taking) > 10 and {together(f"{file}::test") for file in taking} == {ON_RAY}
    others = [file for file in FILES if file not in taking and file not in RAYS]
    assert [together(f"{file}::test[a::b]") for file in others] == others


def test_whoever_starts_a_ray_is_another() -> None:
    """As `paretoscope up`, `demo` or `run` do, and what compose.py starts."""
    processes = r"from tests\.processes import [^\n]*\bup\b|faults\.stack import|deployment\.compose import \("
    commands = r"\bdemo\", \"--exit\"|\"run\", \"mine\.py\", \"--watch\""
    starting = [file for file in FILES if re.search(f"{processes}|{commands}", Path(ROOT, file).read_text())]
    assert sorted(starting) == sorted(RAYS) and {together(f"{file}::test") for file in RAYS} == {WITH_A_RAY}


def test_no_file_elsewhere_takes_the_cluster() -> None:
    elsewhere = [file for file in FILES if not file.startswith("tests/end_to_end/")]
    assert [file for file in elsewhere if re.search(r"\bcluster: Running", Path(ROOT, file).read_text())] == []


def test_the_order_is_the_clusters_then_what_is_named_then_the_trees() -> None:
    assert all((ROOT / place).exists() for place in TURNS)
    first, last = "tests/end_to_end/test_studies.py", "tests/test_names.py"
    others = [place for place in TURNS if place != "tests/end_to_end/"]
    named = [place if place.endswith(".py") else f"{place}test_own.py" for place in others]
    turns = sorted((f"{file}::test" for file in [last, *reversed(named), first]), key=in_turn)
    assert [nodeid.partition("::")[0] for nodeid in turns] == [first, *named, last]
