"""Names say what they name: of functions and values here, of files in the tree."""

from __future__ import annotations

import ast
import re
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


# Files. One noun has a file in each room that deals with it: its class, its answer, its route, its figure, its command,
# its script. Beside each is what they all open with, so that one of another thing is seen.
ONE_NOUN = {
    "app": "app",
    "artifacts": "files of a trial",
    "attacks": "attacks",
    "attainment": "attainment",
    "balance": "balance",
    "bottleneck": "bottleneck",
    "catalog": "a study may name",
    "checks": "check",  # of a study
    "closed_form": "follow from β",
    "code": "code",  # of your own
    "coded": "measured of .*code",
    "coding": "measure.* and attack",  # what a Gaussian code makes possible
    "cohort_state": "cohort",
    "cohorts": "cohorts",
    "comparison": "arms",  # compared
    "constraints": "constraints of a study",
    "curve_places": "places of a curve",
    "curves": "curves of a study",
    "data": "data",
    "describing": "read (by|off)",  # a user's code
    "elsewhere": "trained elsewhere",
    "errors": "error",
    "events": "event",
    "expected_gain": "batch",  # what another would add
    "exports": "takes? home|export",
    "figures": "figures",
    "filling": "gaps",  # of a front
    "fronts": "front",
    "gradients": "gradients",
    "health": "can work|able to run",
    "keeping": "home",  # backed up, brought back, moved
    "latent_map": "latent",
    "learning_curves": "learning curves",
    "lights": r"I\(X;Z\)",  # how far its estimates can be trusted
    "metric_names": "metrics",
    "metrics": "metrics",
    "multitask": "several tasks",
    "notes": "people",  # what they write
    "own_catalog": "catalog",  # with problems of code of your own
    "own_code": "code",
    "picking": "point",
    "presets": "presets",
    "report": "report",
    "robustness": "under .*attack",
    "rungs": "rung",
    "streams": "stream",
    "studies": "stud(y|ies)",
    "study": "study",
    "tokens": "token",
    "toy": "the toy",
    "trial": "trial",
    "trials": "trials",
    "verified": "trained separately",
    "verifying": "networks",  # that check a curve
    "vocabulary": "words and limits",
}


def opening(source: str) -> str:
    """What a file says first, on one line: a module's docstring, a script's comment."""
    said = re.match(r'"""(.*?)"""|/\*\*?(.*?)\*/|((?://[^\n]*\n)+)', source, re.DOTALL)
    return re.sub(r"[\s/*]+", " ", next(filter(None, said.groups()))).strip() if said else ""


def namesakes() -> dict[str, list[Path]]:
    """Names, as Python would have them, with the files that share one."""
    shared: dict[str, list[Path]] = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.*")):
            if path.suffix in {".py", ".js"} and not path.stem.startswith("__"):
                shared.setdefault(path.stem.replace("-", "_"), []).append(path)
    return {name: paths for name, paths in shared.items() if len(paths) > 1}


def test_files_of_one_name_are_of_one_thing() -> None:
    """Whoever looks for a file by its name has it. A new pair is added above, if it is of one thing."""
    shared = namesakes()
    assert set(shared) == set(ONE_NOUN)
    of_another = [
        str(path.relative_to(ROOT))
        for name, paths in shared.items()
        for path in paths
        if not re.search(ONE_NOUN[name], opening(path.read_text()), re.IGNORECASE)
    ]
    assert of_another == []


def test_what_a_file_opens_with_is_read_in_both_languages() -> None:
    assert opening('"""Drafts,\nkept.\n\nMore."""\nimport x') == "Drafts, kept. More."
    assert opening("// Drafts,\n// kept.\n\n// later") == "Drafts, kept."
    assert opening("/** Drafts,\n * kept. */") == "Drafts, kept."
    assert opening("import x\n") == ""


# Files that stand in no room, and why. Programs are started by their name.
ROOTS = {
    "service": {"app": "what is started", "settings": "what it is started with"},
    "service/contract": {
        "catalog": "reads all of its rooms: whatever a study may name",
        "vocabulary": "reads all of its rooms: the words that a page needs",
    },
    "workers": {
        "check_study": "a program",
        "describe_code": "a program",
        "run_study": "a program",
        "state": "below all rooms: what each of them remembers with",
    },
    "frontends": {
        "client": "what people import",
        "connection": "the client's: how the service is called",
        "home": "the client's: where it finds the service of this machine",
        "notebook": "the client's: its figures in a notebook",
        "study": "what the client returns",
        "trial": "what the client returns",
    },
    "frontends/dashboard": {},
}


@pytest.mark.parametrize("package", ROOTS)
def test_a_file_stands_in_a_room(package: str) -> None:
    loose = {path.stem for kind in ("py", "js") for path in (ROOT / package).glob(f"*.{kind}")}
    assert {name for name in loose if not name.startswith("__")} == set(ROOTS[package])


# Folders of tests that mirror no room, and why.
OF_THEIR_OWN = {
    "": "the tree, its documents and the package as a whole",
    "browser": "the dashboard, which has no Python",
    "deployment": "compose and Kubernetes files, and the commands in them",
    "end_to_end": "everything together, on Ray",
    "faults": "everything together, disturbed",
    "fuzz": "the service, by what is sent to it",
    "golden": "answers and drawings, as they are kept",
    "load": "the service, by how much is sent to it",
}
# Rooms whose tests are elsewhere, and where.
TESTED_IN = {
    "paretoscope": "",  # by its names, and as a wheel
    "service/contract/wire/answers": "golden",  # and in service/routes, answer by answer
    "service/store/migrations": "service/store",
    "service/store/migrations/versions": "service/store",
    "workers/data/files": "workers/data",  # as data sets read them
    "workers/data/preparing": "workers/data",
    "workers/data/sets": "workers/data",
    "workers/measures/attacks/steps": "workers/measures/attacks",  # as attacks take them
    "workers/measures/estimators/samples": "workers/measures/estimators",
    "workers/optimizers/stacking": "workers/optimizers",
    "workers/problems/rates": "workers/problems",
    "workers/problems/tasks": "workers/problems",
}
# Tests in another room than the module of their name, and why.
NOT_OF_THE_MODULE = {
    "service/test_unreadable.py": "the whole service, with a study that it cannot read",
    "workers/models/test_sequences.py": "the models that read sequences",
}


def rooms_with(pattern: str, *tops: str) -> dict[str, set[str]]:
    """Folders, each with the names of its files."""
    rooms: dict[str, set[str]] = {}
    for top in tops:
        for path in (ROOT / top).rglob(pattern):
            if not path.stem.startswith("__"):
                place = path.parent.relative_to(ROOT / top if top == "tests" else ROOT)
                rooms.setdefault("" if place == Path() else str(place), set()).add(path.stem)
    return rooms


def test_tests_mirror_the_rooms() -> None:
    rooms, tests = rooms_with("*.py", *PACKAGES), rooms_with("test_*.py", "tests")
    assert len(rooms) > 50
    assert set(tests) - set(rooms) == set(OF_THEIR_OWN)
    assert set(rooms) - set(tests) == set(TESTED_IN) and set(TESTED_IN.values()) <= set(tests)
    deeper = {
        f"{folder}/{test}.py"
        for folder, names in tests.items()
        for test in names
        for room, modules in rooms.items()
        if room.startswith(f"{folder}/") and test.removeprefix("test_") in modules - rooms.get(folder, set())
    }
    assert deeper == set(NOT_OF_THE_MODULE), "a test of a module stands in the mirror of its room"


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
