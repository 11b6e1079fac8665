"""Names say what they name: of functions and values here, of files in the tree."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from service.contract.catalog import catalog

ROOT = Path(__file__).parent.parent
PACKAGES = ("paretoscope", "service", "workers", "frontends", "findings")
SAY_NOTHING = {"found", "written", "writing", "ways", "take"}  # whatever it is, somebody found, wrote or took it
IN_SCRIPT = re.compile(rf"\b(?:const|let|function|static|#)\s*({'|'.join(SAY_NOTHING)})\b")


def empty_names(source: str) -> set[str]:
    """Values, arguments, fields and functions of a module whose names say nothing."""
    tree = ast.walk(ast.parse(source))
    names: set[str] = set()
    for node in tree:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names |= {node.name.strip("_")} & SAY_NOTHING
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names |= {node.id.strip("_")} & SAY_NOTHING
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names |= {node.attr.strip("_")} & SAY_NOTHING
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
        "self._reading, self._found = begin()",
    ],
)
def test_a_name_that_says_nothing_is_seen(line: str) -> None:
    assert empty_names(line) == {"found"}


def test_what_is_found_may_be_said_in_a_longer_name() -> None:
    assert not empty_names("def found_words(arms): ...\nwritten_to = 1\nx.found()\ntake_permit()")
    assert empty_names("def written(speed): ...\nways = [take for take in writing]") == {"written", "ways", "take"}


def test_no_name_of_ours_says_nothing() -> None:
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    assert len(paths) > 300
    assert {str(p.relative_to(ROOT)): names for p in paths if (names := empty_names(p.read_text()))} == {}


def test_no_name_of_a_script_says_nothing() -> None:
    scripts = [path for folder in ("frontends", "service") for path in sorted((ROOT / folder).rglob("*.js"))]
    assert len(scripts) > 50 and IN_SCRIPT.findall("const written = 1; let takes; function take() {}") == [
        "written",
        "take",
    ]
    assert {path.name: names for path in scripts if (names := IN_SCRIPT.findall(path.read_text()))} == {}


# Files. One noun has a file in each room that deals with it: its class, its answer, its route, its figure, its command.
ONE_NOUN = {
    *(
        "artifacts",
        "asking",
        "attainment",
        "balance",
        "bottleneck",
        "catalog",
        "checks",
        "closed_form",
        "code",
        "coded",
    ),
    *(
        "coding",
        "cohort_state",
        "cohorts",
        "commands",
        "comparison",
        "curves",
        "data",
        "describing",
        "errors",
        "events",
    ),
    *(
        "expected_gain",
        "exports",
        "figures",
        "filling",
        "fronts",
        "gradients",
        "health",
        "keeping",
        "latent_map",
        "lights",
    ),
    *(
        "metric_names",
        "multitask",
        "notes",
        "own_code",
        "picking",
        "presets",
        "robustness",
        "rungs",
        "streams",
        "studies",
    ),
    *("study", "tokens", "toy", "trial", "trials", "verified", "verifying"),
}


def test_files_of_one_name_are_of_one_thing() -> None:
    """Whoever looks for a file by its name has it. A new pair is added above, if it is of one thing."""
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    stems = Counter(path.stem for path in paths if not path.stem.startswith("__"))
    assert {stem for stem, count in stems.items() if count > 1} == ONE_NOUN


def test_no_file_has_a_name_that_says_nothing() -> None:
    files = [path for package in PACKAGES for kind in ("py", "js") for path in (ROOT / package).rglob(f"*.{kind}")]
    assert len(files) > 400 and [str(path) for path in files if path.stem in SAY_NOTHING] == []


KNOWN = catalog([])
METHODS = {
    "weightings": {*(entry.name for entry in KNOWN.weightings), "torchjd-adapter"},  # those of another library
    "measures/attacks": {entry.name for entry in KNOWN.attacks},
    "measures/estimators": {*(entry.name for entry in KNOWN.estimators), "pairwise"},  # the lower bound and the upper
    "optimizers": {"adam", "adamw", "sgd", "momentum"},  # of sgd
}


@pytest.mark.parametrize("room", METHODS)
def test_in_a_room_of_methods_a_file_is_a_method(room: str) -> None:
    """What several of them share is in a folder beside them, as CONTRIBUTING says."""
    files = {path.stem.replace("_", "-") for path in (ROOT / "workers" / room).glob("[!_]*.py")}
    assert files and files <= METHODS[room]
