"""Who may import whom: in a fresh interpreter, and by every import that is written, also inside functions."""

from __future__ import annotations

import ast
import resource
import subprocess
import sys
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
BY_CALL = ("import_module", "__import__")
# Who imports a method of its own folder by the name that a study has for it; `paretoscope` what people ask it for.
BY_METHOD = {"paretoscope", "workers.data", "workers.models", "workers.problems", "workers.problems.rates"}
BY_METHOD |= {"workers.weightings", "workers.measures.attacks"}


def modules_after(statement: str) -> set[str]:
    code = f"{statement}; import sys; print(' '.join(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return set(answer.stdout.split())


@pytest.mark.parametrize(
    ("room", "forbidden"),
    [
        ("service.app", {"torch", "ray", "workers", "frontends", "sklearn", "scipy", "plotly"}),
        (
            "service.contract.study.parsing",
            {"torch", "ray", "fastapi", "sqlalchemy", "numpy", "service.store", "workers"},
        ),
        ("findings.texts", {"torch", "ray", "fastapi", "sqlalchemy", "workers", "frontends"}),
        ("workers.on_ray.driver", {"fastapi", "torch", "frontends", "service.store", "service.routes"}),
        ("workers.training.loop", {"ray", "fastapi", "sklearn", "torchvision", "frontends"}),
        ("workers.sending.files", {"ray", "fastapi", "sklearn", "torchvision", "frontends", "service.store.artifacts"}),
        ("workers.trained", {"ray", "fastapi", "sklearn", "torchvision", "frontends", "service.store"}),
        ("frontends.client", {"torch", "workers", "ray", "fastapi", "service"}),
        ("frontends.cli.commands", {"torch", "ray", "fastapi", "sqlalchemy"}),
    ],
)
def test_a_room_stays_out_of_the_others(room: str, forbidden: set[str]) -> None:
    assert not modules_after(f"import {room}") & forbidden


def test_the_service_is_imported_faster_than_torch() -> None:
    """Start-up is a promise; a ratio of processor time within one run holds on any machine, however busy."""

    def seconds(statement: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", statement], check=True, timeout=120)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    seconds("import service.app")
    rounds = [(seconds("import service.app"), seconds("import torch")) for _ in range(2)]  # others work here too
    assert min(own for own, _ in rounds) < min(torch for _, torch in rounds)


class Import(NamedTuple):
    """One import of a module, by what it names: `from workers import data` imports `workers.data`."""

    module: str
    imported: str

    @property
    def rooms(self) -> tuple[str, str]:
        return _room(self.module), _room(self.imported)


def _room(module: str) -> str:
    """`workers.data.sets.toy` is in `workers.data`; a loose module of a package is a room of its own."""
    return ".".join(module.split(".")[:2])


def _of_package(name: str) -> bool:
    return (ROOT / Path(*name.split("."))).is_dir() or (ROOT / Path(*name.split("."))).with_suffix(".py").is_file()


def imports_of(module: str, text: str) -> Iterator[Import]:
    """Every import in a module's text, wherever it stands, for types too, and by a call that is given a name."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module}: imports name the whole module"
            within = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if _of_package(name) else str(node.module) for name in within]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in BY_CALL:
            names = [_given(argument, module) for argument in node.args[:1]]
        else:
            continue
        yield from (Import(module, name) for name in names)


def _given(argument: ast.expr, module: str) -> str:
    """The name that an importing call is given: a text, or a method of a module's own folder."""
    if isinstance(argument, ast.Constant):
        return str(argument.value)
    written = ast.unparse(argument)
    assert module in BY_METHOD and (written[2:].startswith("{__name__}.") or module == "paretoscope"), (
        f"{module} imports {written}: nobody can tell what"
    )
    return module


def _place(module: str) -> tuple[str, ...]:
    """Folders and file of a module; a package itself is the file `__init__` of its folder."""
    parts = tuple(module.split("."))
    return (*parts, "__init__") if (ROOT / Path(*parts)).is_dir() else parts


def cycles(imports: Iterable[Import]) -> list[str]:
    """Cycles of modules, and of the folders of a folder: `workers.data: files → preparing → sets → files`."""
    modules: dict[str, set[str]] = {}
    folders: dict[str, dict[str, set[str]]] = {}
    for module, imported in imports:
        ours, theirs = _place(module), _place(imported)
        if ours == theirs or ours[0] != theirs[0]:
            continue
        modules.setdefault(module, set()).add(imported)
        level = next(i for i, (own, other) in enumerate(zip(ours, theirs, strict=False)) if own != other)
        if len(ours) > level + 1 < len(theirs):
            within = folders.setdefault(".".join(ours[:level]), {})
            within.setdefault(ours[level], set()).add(theirs[level])
    cyclic = [("modules", cycle) for cycle in _cycles(modules)]
    cyclic += [(folder, cycle) for folder, arrows in folders.items() for cycle in _cycles(arrows)]
    return sorted(f"{where}: {' → '.join(cycle)}" for where, cycle in cyclic)


def _cycles(arrows: dict[str, set[str]]) -> Iterator[list[str]]:
    """One cycle after the other, an arrow of each taken away."""
    left = {start: set(ends) for start, ends in arrows.items()}
    while True:
        try:
            TopologicalSorter(left).prepare()
            return
        except CycleError as error:
            cycle = list(reversed(error.args[1]))  # it lists who is imported before who imports
            smallest = min(range(len(cycle) - 1), key=cycle.__getitem__)
            yield cycle[smallest:-1] + cycle[: smallest + 1]
            left[cycle[0]].discard(cycle[1])


def imports_within(package: str) -> list[Import]:
    found: list[Import] = []
    for path in sorted((ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found += imports_of(module, path.read_text())
    return found


def test_an_import_is_seen_wherever_it_stands() -> None:
    text = """
from typing import TYPE_CHECKING
from workers import data as datasets
if TYPE_CHECKING:
    import ray
def f():
    from workers.data.random_streams import Seeds, generator
    import torch, ray.tune
    importlib.import_module("ray.data"), import_module("workers.models"), __import__("sklearn")
"""
    assert {imported for _, imported in imports_of("workers.x", text)} == {
        "typing",
        "workers.data",
        "ray",
        "workers.data.random_streams",
        "torch",
        "ray.tune",
        "ray.data",
        "workers.models",
        "sklearn",
    }


def test_a_module_may_import_by_name_what_its_own_folder_has_and_nothing_else() -> None:
    text = "importlib.import_module({})"
    own = text.format("f'{__name__}.{spec.name}'")
    assert {imported for _, imported in imports_of("workers.models", own)} == {"workers.models"}
    for module, name in (
        ("workers.models", "name"),
        ("workers.models", "f'{x}.tune'"),
        ("workers.x", "f'{__name__}.y'"),
    ):
        with pytest.raises(AssertionError, match="nobody can tell what"):
            list(imports_of(module, text.format(name)))


def test_a_cycle_is_seen_between_modules_and_between_folders() -> None:
    information, robustness = "workers.measures.information", "workers.measures.attacks.robustness"
    assert cycles([Import(information, robustness), Import(robustness, information)]) == [
        f"modules: {robustness} → {information} → {robustness}"
    ]
    around = [
        Import("workers.data.files.idx", "workers.data.preparing.recipes"),
        Import("workers.data.preparing.inventory", "workers.data.sets.digits"),
        Import("workers.data.sets.mnist", "workers.data.files.idx"),
    ]
    assert cycles(around) == ["workers.data: files → preparing → sets → files"]
    assert cycles(around[:2]) == []
    both = [*around, Import("workers.models.a", "workers.data.pool"), Import("workers.data.pool", "workers.models.b")]
    assert cycles(both) == ["workers.data: files → preparing → sets → files", "workers: data → models → data"]


@pytest.mark.parametrize("package", ["paretoscope", "service", "workers", "frontends", "findings"])
def test_imports_go_round_nowhere(package: str) -> None:
    assert cycles(imports_within(package)) == []


def test_the_rooms_of_workers_have_an_order() -> None:
    """Types included; `static_order` raises on a cycle and names it."""
    above: dict[str, set[str]] = {}
    for each in imports_within("workers"):
        room, other = each.rooms
        if other.startswith("workers.") and other != room:
            above.setdefault(room, set()).add(other)
    order = list(TopologicalSorter(above).static_order())
    assert order[-1] == "workers.run_study"
    places = {room: order.index(f"workers.{room}") for room in ("data", "models", "measures", "problems", "training")}
    assert sorted(places, key=lambda room: places[room]) == ["data", "models", "measures", "problems", "training"]


def test_ray_is_imported_in_one_room() -> None:
    """Also not for types, and nowhere in service and frontends, which reach it over HTTP."""
    rooms = {
        each.rooms[0]
        for package in ("workers", "service", "frontends")
        for each in imports_within(package)
        if each.imported.partition(".")[0] == "ray"
    }
    assert rooms == {"workers.on_ray"}


# What each room of the service may import; a reader of views and analysis reads no other reader.
READERS = {"answers", "figures", "exports"}
BELOW = {
    "contract": set(),
    "settings": {"contract"},
    "store": {"contract"},
    "views": {"contract", "store"},
    "analysis": {"contract", "store", "views"},
    **{reader: {"contract", "views", "analysis"} for reader in READERS},
    "launching": {"contract", "settings", "store", "views"},
    "web": {"contract", "settings", "store", "views"},
}
BELOW["routes"] = set(BELOW)
BELOW["app"] = set(BELOW)
BELOW["__main__"] = set(BELOW)
# The analysis that reads views; all else in that room is mathematics on plain values.
ON_VIEWS = {
    "candidates",
    "compared",
    "curve_places",
    "lights",
    "single_tasks",
    "trial_places",
    "trial_table",
    "verifying",
    "watched",
    "weighting_gains",
}


def arrows(package: str) -> set[tuple[str, str]]:
    """(module, room) of every import that crosses rooms of a package, types included."""
    crossing = {(each.module, each.rooms[1]) for each in imports_within(package) if each.rooms[0] != each.rooms[1]}
    return {(module, room) for module, room in crossing if room.startswith(f"{package}.")}


def test_imports_of_the_service_go_one_way() -> None:
    wrong = {
        (module, room)
        for module, room in arrows("service")
        if room.removeprefix("service.") not in BELOW[_room(module).removeprefix("service.")]
    }
    assert wrong == set()


# What each package may import of the others; `paretoscope` gives its version to all, and names of frontends to people.
# `findings` reads studies as the service's own readers do, and runs them as people do. Nobody imports it.
OUTSIDE = {
    "paretoscope": {"frontends.client", "frontends.connection", "frontends.study"},
    "service": {"paretoscope"},
    "workers": {"service.contract", "paretoscope"},
    "frontends": {"service.contract", "paretoscope"},
    "findings": {
        *(f"service.{room}" for room in ("contract", "store", "views", "analysis", "figures")),
        "frontends.cli",
        "frontends.client",
        "paretoscope",
    },
}
BY_NAME = {
    ("frontends.cli.data", "workers.data"),  # what is here, and how to prepare the rest
    ("frontends.study", "workers.trained"),  # a trial's network, which computes at home what it computed on Ray
}


@pytest.mark.parametrize("package", sorted(OUTSIDE))
def test_packages_meet_only_where_they_may(package: str) -> None:
    """Wherever in a file an import stands, and for types too."""
    met = {
        (each.module, ".".join(each.imported.split(".")[:2]))
        for each in imports_within(package)
        if each.imported.partition(".")[0] in OUTSIDE.keys() - {package}
    }
    assert met, "there is something to look at"
    allowed = {(module, room) for module, room in met if any(room.startswith(each) for each in OUTSIDE[package])}
    assert met - allowed <= BY_NAME


def test_the_contract_needs_pydantic_and_yaml_and_workers_no_fastapi() -> None:
    needed = {each.imported.partition(".")[0] for each in imports_within("service/contract")}
    of_pydantic = {"pydantic", "pydantic_core", "annotated_types", "typing_extensions"}
    assert needed - sys.stdlib_module_names - {"service", "paretoscope"} == of_pydantic | {"yaml"}
    workers = {each.imported.partition(".")[0] for each in imports_within("workers")}
    assert not workers & {"fastapi", "starlette", "uvicorn", "sqlalchemy"}


def test_every_room_of_the_service_has_its_place() -> None:
    """A new room must say what it may import, and the readers must be there to be kept apart."""
    rooms = {_room(module).removeprefix("service.") for module, _ in arrows("service")}
    assert rooms <= set(BELOW)
    assert READERS | {"views", "analysis", "routes", "app"} <= rooms


def test_a_figure_imports_no_other_figure() -> None:
    """What several of them need stands in `drawing`."""
    figures = {f"service.figures.{path.stem}" for path in (ROOT / "service" / "figures").glob("*.py")}
    figures -= {"service.figures.__init__", "service.figures.figure"}
    assert len(figures) > 15
    imports = [each for each in imports_within("service/figures") if each.module in figures]
    assert imports and [(each.module, each.imported) for each in imports if each.imported in figures] == []


def test_mathematics_reads_no_views() -> None:
    readers = {
        module for module, room in arrows("service") if (_room(module), room) == ("service.analysis", "service.views")
    }
    assert readers == {f"service.analysis.{name}" for name in ON_VIEWS}
    within = {
        each.module
        for each in imports_within("service")
        if _room(each.module) == "service.analysis" and each.imported in readers
    }
    assert within <= readers


# Readers read views and analysis: of the contract's answers each knows those that it makes itself.
ANSWERS = "service.contract.wire.answers"
MAKES = {
    "service.figures": {
        ("service.figures", f"{ANSWERS}.figures"),
        ("service.figures.figure", f"{ANSWERS}.figures"),
        ("service.figures.figure", f"{ANSWERS}.figure_groups"),
    },
    "service.exports": {("service.exports.methods", f"{ANSWERS}.exports")},
    "service.analysis": set(),
    "service.views": set(),
}


@pytest.mark.parametrize("room", MAKES)
def test_figures_and_exports_know_no_answers_but_their_own(room: str) -> None:
    known = {tuple(each) for each in imports_within(room.replace(".", "/")) if each.imported.startswith(ANSWERS)}
    assert known == MAKES[room]


def memos(source: str) -> list[str]:
    """The names under which a module keeps what it computes: texts, or texts that begin as one does."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    asked = [call.args[0] for call in calls if ast.unparse(call.func).endswith(".memo") and call.args]
    names = [each.values[0] if isinstance(each, ast.JoinedStr) else each for each in asked]
    assert all(isinstance(name, ast.Constant) for name in names), f"{list(map(ast.unparse, asked))}: any other's"
    return [str(name.value) for name in names if isinstance(name, ast.Constant)]


def test_nobody_reads_what_another_module_keeps() -> None:
    """A memo that two modules ask for would be one's output in the other's hands."""
    kept = {path: memos(path.read_text()) for path in sorted((ROOT / "service").rglob("*.py"))}
    names = sorted((name, path.name) for path, own in kept.items() for name in set(own))
    assert len(names) > 5
    assert not [(a, b) for a, b in pairwise(names) if b[0].startswith(a[0])]
    inside = [path for path in kept if "memo._kept" in path.read_text() or "_kept[" in path.read_text()]
    assert [path.name for path in inside] == ["view.py"]


def test_a_memo_is_seen_by_its_name_or_its_beginning() -> None:
    assert memos('view.memo("arms", f); a.view.memo(f"figure {name}", g)') == ["arms", "figure "]
    with pytest.raises(AssertionError, match="any other's"):
        memos("view.memo(name, f)")


PARTS_OF_PLOTLY = {"data", "layout", "meta", "height", "x", "y", "traces"}


def keys_read(source: str) -> set[str]:
    """Keys that a module takes from mappings: `figure["layout"]`, `layout.get("meta")`, `"x" in trace`."""
    read: set[object] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            read.add(node.slice.value)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith((".get", ".pop")) and node.args:
            read.add(getattr(node.args[0], "value", None))
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            read.add(getattr(node.left, "value", None))
    return {key for key in read if isinstance(key, str)}


def test_exports_and_answers_do_not_read_what_figures_drew() -> None:
    assert keys_read('f["layout"].get("meta"); "x" in trace; a[0]') == {"layout", "meta", "x"}
    readers = [path for room in ("exports", "answers") for path in sorted((ROOT / "service" / room).glob("*.py"))]
    assert len(readers) > 10
    read = {path.name: keys_read(path.read_text()) & PARTS_OF_PLOTLY for path in readers}
    assert {name: keys for name, keys in read.items() if keys} == {"estimates.py": {"data"}}  # of a study's spec
