"""A test that looks only within a loop looks at nothing where the loop is empty: it says what there is to see.

Whatever is asserted outside of such loops will do, as how many there are. Loops over literals, over constants and over
what is as long as these are never empty.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
CHECKS = re.compile(r"(assert|until|raises|warns|fail|expect|wait_for)(_\w+)?")
AS_LONG_AS = {"enumerate", "list", "map", "permutations", "range", "reversed", "set", "sorted", "tuple", "zip"}
OF_A_TABLE = {"items", "keys", "values"}
Function = ast.FunctionDef | ast.AsyncFunctionDef
Values = dict[str, ast.expr]
Quantifier = Callable[[Iterable[bool]], bool]


def name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)


def may_be_empty(over: ast.expr, known: Values) -> bool:
    """Whether it is computed: no literal, no constant, and nothing as long as one of these."""
    match over:
        case ast.Constant() | ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
            return ast.unparse(over) in {"()", "[]", "{}", "''", "0"}
        case ast.Name(id=name) | ast.Attribute(attr=name) if name not in known:
            return not name.isupper()
    quantifier, parts = as_long_as(over, known)
    return quantifier(may_be_empty(part, known) for part in parts)


def as_long_as(over: ast.expr, known: Values) -> tuple[Quantifier, list[ast.expr]]:
    """Whose lengths say its own, and whether all or any of them must be empty for it to be so."""
    parts: list[ast.expr] = []  # of nothing: it may be empty
    match over:
        case ast.Name(id=name):
            parts = [known.pop(name)]
        case ast.Subscript(value=inner) | ast.Starred(value=inner):
            parts = [inner]
        case ast.Call(func=ast.Attribute(value=table, attr=kind)) if kind in OF_A_TABLE:
            parts = [table]
        case ast.BinOp():
            parts = [over.left, over.right]
        case ast.Call() if name_of(over) in AS_LONG_AS:
            parts = over.args
        case ast.Call() if name_of(over) == "product":
            return any, over.args
        case ast.IfExp():
            return any, [over.body, over.orelse]
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return any, [ast.Tuple([]) if each.ifs else each.iter for each in over.generators]
    return all, parts


def is_check(node: ast.AST, helpers: set[str]) -> bool:
    if isinstance(node, ast.Call):
        return bool(CHECKS.fullmatch(name_of(node))) or name_of(node) in helpers
    return isinstance(node, ast.Assert)


def surely_run(node: ast.AST, known: Values) -> Iterator[ast.AST]:
    """What stands in no loop that may be empty."""
    yield node
    inner = ast.iter_child_nodes(node)
    if isinstance(node, ast.For | ast.AsyncFor) and may_be_empty(node.iter, dict(known)):
        inner = iter([node.iter])
    for child in inner:
        yield from surely_run(child, known)


def said_once(function: Function) -> Values:
    """Local names that stand for one value."""
    values: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            place = node.targets[0] if isinstance(node, ast.Assign) else node.target
            values.setdefault(ast.unparse(place), []).append(node.value)
    return {name: each[0] for name, each in values.items() if len(each) == 1}


def functions(tree: ast.Module) -> list[Function]:
    return [node for node in ast.walk(tree) if isinstance(node, Function)]


def checking(tree: ast.Module) -> set[str]:
    """Functions of a module that look at something themselves, or by another."""
    helpers: set[str] = set()
    while True:
        more = {each.name for each in functions(tree) if any(is_check(node, helpers) for node in ast.walk(each))}
        if more <= helpers:
            return helpers
        helpers |= more


def hardly_failing(tree: ast.Module) -> list[str]:
    helpers = checking(tree)
    return [
        test.name
        for test in functions(tree)
        if test.name.startswith("test_") and any(is_check(node, helpers) for node in ast.walk(test))
        if not any(is_check(node, helpers) for node in surely_run(test, said_once(test)))
    ]


@pytest.mark.parametrize(
    ("body", "hardly"),
    [
        ("for x in found():\n  assert x", True),
        ("for x in sorted(found()):\n  for y in (1, 2):\n    assert y", True),
        ("all = [x for x in CASES if x]\nfor x in all:\n  assert x", True),
        ("for x, y in zip(found(), told(), strict=True):\n  assert x == y", True),
        ("for x in found()[1:]:\n  until(x)", True),
        ("for x in []:\n  assert x", True),
        ("for x in found():\n  looked(x)", True),
        ("all = found()\nassert len(all) == 3\nfor x in all:\n  assert x", False),
        ("for x in looked():\n  assert x", False),
        ("for x in (1, 2):\n  assert x", False),
        ("cases = {'a': 1}\nfor x, y in cases.items():\n  assert x", False),
        ("for x, y in zip(found(), CASES, strict=True):\n  assert x", False),
        ("for x in range(3):\n  assert x", False),
        ("for x in found():\n  x()", False),
    ],
)
def test_a_test_that_looks_only_within_a_loop_is_seen(body: str, hardly: bool) -> None:
    lines = "\n".join(f"  {line}" for line in body.splitlines())
    tree = ast.parse(f"def looked(x=0):\n  assert x\ndef test_it():\n{lines}")
    assert hardly_failing(tree) == (["test_it"] if hardly else [])


def test_no_test_looks_only_within_a_loop_that_may_be_empty() -> None:
    trees = {path: ast.parse(path.read_text()) for path in sorted(FOLDER.rglob("test_*.py"))}
    assert len(trees) > 300
    assert not [f"{path.relative_to(FOLDER)}: {name}" for path, tree in trees.items() for name in hardly_failing(tree)]
