"""Names say what they name: of functions and values here, of files in the tree."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("paretoscope", "service", "workers", "frontends", "findings")
SAY_NOTHING = {"found"}  # whatever it is, somebody found it
FUNCTIONS = SAY_NOTHING | {"written"}


def empty_names(source: str) -> set[str]:
    """Values, arguments, fields and functions of a module whose names say nothing."""
    tree = ast.walk(ast.parse(source))
    names: set[str] = set()
    for node in tree:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names |= {node.name.strip("_")} & FUNCTIONS
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names |= {node.id.strip("_")} & SAY_NOTHING
        elif isinstance(node, ast.arg):
            names |= {node.arg.strip("_")} & SAY_NOTHING
    return names


@pytest.mark.parametrize(
    "line",
    [
        "found = []",
        "found: list[int] = []",
        "def f(found: int) -> None: ...",
        "[found for found in others]",
        "if (found := sought()): ...",
        "class Levels(NamedTuple):\n    found: bool",
        "def _found() -> int: ...",
    ],
)
def test_a_name_that_says_nothing_is_seen(line: str) -> None:
    assert empty_names(line) == {"found"}


def test_what_is_found_may_be_said_in_a_longer_name() -> None:
    assert not empty_names("def found_words(arms): ...\nwritten = 1\nx.found()")
    assert empty_names("def written(speed): ...") == {"written"}


def test_no_name_of_ours_says_nothing() -> None:
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    assert len(paths) > 300
    assert {str(p.relative_to(ROOT)): names for p in paths if (names := empty_names(p.read_text()))} == {}
