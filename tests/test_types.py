"""Types hold everywhere but at few, known doors: what is unchecked or of any shape is counted."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("paretoscope", "service", "workers", "frontends", "findings")
UNCHECKED = re.compile(r"#\s*type:\s*ignore")
OPEN = re.compile(r"\b(?:[Dd]ict|Mapping)\[str, Any\]")
MOST_UNCHECKED = 9
MOST_OPEN = 46  # each at a true boundary: JSON and YAML as they come, schemas, values of a user's own parameters


def counted(pattern: re.Pattern[str], *folders: str) -> dict[str, int]:
    files = {path: path.read_text() for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))}
    counts = {str(path.relative_to(ROOT)): len(pattern.findall(text)) for path, text in files.items()}
    return {path: count for path, count in counts.items() if count and path != "tests/test_types.py"}


@pytest.mark.parametrize("line", ["x = y  # type: ignore", "x = y  #type:ignore[arg-type]"])
def test_an_unchecked_line_is_seen(line: str) -> None:
    assert UNCHECKED.search(line)


def test_few_lines_are_unchecked() -> None:
    lines = counted(UNCHECKED, *ROOMS, "tests")
    assert 0 < sum(lines.values()) <= MOST_UNCHECKED, lines


def test_few_values_may_have_any_shape() -> None:
    values = counted(OPEN, *ROOMS)
    assert 0 < sum(values.values()) <= MOST_OPEN, values


# Other names of an open dict: what is in one, and how often each module writes it. These counts may only shrink.
class Alias(NamedTuple):
    holds: str
    uses: dict[str, int]


ALIASES = {
    "frontends.connection.Answer": Alias(
        "an answer as people have it from the client: plain, as docs/design.md says",
        {
            "frontends.cli.display": 12,
            "frontends.client": 15,
            "frontends.connection": 6,
            "frontends.notebook": 3,
            "frontends.study": 20,
        },
    ),
    "service.contract.study.earlier.Spec": Alias(
        "a study as an earlier version kept it, which this module makes one of today's",
        {"service.contract.study.earlier": 6},
    ),
    "service.contract.study.expansion.Config": Alias(
        "values of a trial by `weighting.beta` and the like: the parameters of any method",
        {
            "service.contract.study.expansion": 8,
            "service.contract.study.extension": 1,
            "service.views.fold": 1,
            "service.views.told": 1,
        },
    ),
    "service.contract.study.own_code.Body": Alias(
        "a study as it was sent, not checked yet",
        {"service.contract.study.own_code": 9},
    ),
    "service.contract.wire.answers.answer.SentSpec": Alias(
        "a study in an answer, whose schema is that of `Study`",
        {
            "service.contract.wire.answers.checks": 1,
            "service.contract.wire.answers.picking": 1,
            "service.contract.wire.answers.presets": 1,
            "service.contract.wire.answers.studies": 1,
        },
    ),
    "service.contract.wire.answers.answer.WrittenSpec": Alias(
        "a study in an answer, as it was sent, whether or not it is one",
        {"service.contract.wire.answers.checks": 1},
    ),
    "service.contract.wire.plotly.Layout": Alias(
        "a part of a figure, which Plotly defines",
        {
            "service.contract.wire.answers.figures": 1,
            "service.contract.wire.plotly": 1,
            "service.figures.drawing.front_in_space": 1,
            "service.figures.drawing.information_bound": 1,
            "service.figures.drawing.rows": 1,
            "service.figures.drawing.small_plots": 3,
            "service.figures.drawing.style": 5,
            "service.figures.latent_map": 2,
            "service.figures.parallel_coordinates": 1,
            "service.figures.pareto_front": 1,
        },
    ),
    "service.contract.wire.plotly.Trace": Alias(
        "a part of a figure, which Plotly defines",
        {
            "service.contract.wire.answers.figures": 1,
            "service.contract.wire.plotly": 2,
            "service.figures.attainment_difference": 1,
            "service.figures.beta_sensitivity": 2,
            "service.figures.drawing.attained": 2,
            "service.figures.drawing.bands": 5,
            "service.figures.drawing.front_in_space": 2,
            "service.figures.drawing.hover": 1,
            "service.figures.drawing.information_bound": 1,
            "service.figures.drawing.rows": 1,
            "service.figures.drawing.shades": 2,
            "service.figures.drawing.small_plots": 4,
            "service.figures.drawing.style": 1,
            "service.figures.expected_gain": 5,
            "service.figures.filling": 3,
            "service.figures.generalization_gap": 3,
            "service.figures.hypervolume_cost": 4,
            "service.figures.information_plane": 6,
            "service.figures.latent_map": 3,
            "service.figures.learning_curves": 1,
            "service.figures.pareto_front": 4,
            "service.figures.robustness": 4,
            "service.figures.rungs": 2,
            "service.figures.timeline": 2,
        },
    ),
    "service.store.protocol.Spec": Alias(
        "a checked study, as the store keeps it: JSON",
        {
            "service.store.protocol": 2,
            "service.store.sql": 2,
            "service.views.fold": 1,
            "service.views.unreadable": 1,
            "service.views.view": 1,
        },
    ),
    "service.web.openapi.Fragment": Alias(
        "a part of an OpenAPI document, in the shapes that FastAPI takes",
        {"service.web.openapi": 10},
    ),
}


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def named(tree: ast.Module) -> dict[str, ast.expr]:
    """What stands at the top of a module under a name, as a type may."""
    return {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        if isinstance(node.value, ast.Name | ast.Subscript | ast.BinOp)
    }


def imported(tree: ast.Module) -> dict[str, str]:
    """Names that other modules gave, with where from: `Body` from `service.contract.study.own_code.Body`."""
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {each.asname or each.name: f"{node.module}.{each.name}" for node in froms for each in node.names}


def aliases(trees: dict[str, ast.Module]) -> set[str]:
    """Open dicts by another name, and other names of those."""
    known: set[str] = set()
    while True:
        more = {
            f"{module}.{name}"
            for module, tree in trees.items()
            for name, value in named(tree).items()
            if OPEN.search(ast.unparse(value)) or set(names_in(value, module, imported(tree))) & known
        }
        if more <= known:
            return known
        known |= more


def names_in(tree: ast.AST, module: str, given: dict[str, str]) -> list[str]:
    read = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return [given.get(node.id, f"{module}.{node.id}") for node in read]


def uses(trees: dict[str, ast.Module]) -> dict[str, dict[str, int]]:
    """Of each alias: how often a module names it."""
    known, counts = aliases(trees), dict[str, dict[str, int]]()
    for module, tree in trees.items():
        for name, count in Counter(names_in(tree, module, imported(tree))).items():
            if name in known:
                counts.setdefault(name, {})[module] = count
    return counts


def test_an_open_dict_by_another_name_is_seen() -> None:
    source = {
        "a": "Body = dict[str, Any]\nShown = list[Body]\nRow = tuple[int, ...]\ndef f(x: Body) -> Body: ...",
        "b": "from a import Shown as S\ndef g(x: S, y: int) -> None: ...",
    }
    trees = {module: ast.parse(text) for module, text in source.items()}
    assert aliases(trees) == {"a.Body", "a.Shown"}
    assert uses(trees) == {"a.Body": {"a": 3}, "a.Shown": {"b": 1}}


def test_few_modules_write_an_open_dict_by_another_name() -> None:
    trees = {module_of(p): ast.parse(p.read_text()) for room in ROOMS for p in sorted((ROOT / room).rglob("*.py"))}
    assert len(trees) > 300
    assert set(ALIASES) == aliases(trees)
    counts = uses(trees)
    for name, alias in ALIASES.items():
        hint = f"{name} is {alias.holds}; for anything else there is a class of the contract, a TypedDict, a NamedTuple"
        assert counts.get(name, {}) == alias.uses, hint
