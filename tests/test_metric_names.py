"""A metric's name is only a name: its nature is a row of the table, and renaming it touches few files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.contract.metrics import FAMILIES, SINGLE
from service.contract.metrics.metric import PLACE

ROOT = Path(__file__).parent.parent
PACKAGES = ("paretoscope", "service", "workers", "frontends")
TABLE = ROOT / "service" / "contract" / "metrics"
MOST_FILES = 3
# What a name could be recognised by: the fixed parts of families, and the words that several names share.
FRAGMENTS = {part for family in FAMILIES for part in PLACE.split(family.name) if part}
FRAGMENTS |= {"accuracy", "i_xz", "i_zy", "robust", "stderr", "validation_", "_gap"}
LOOKED_FOR = re.compile("|".join(map(re.escape, sorted(FRAGMENTS))))
TAKEN_APART = re.compile(r"""\.r?(?:split|partition)\(["'`]_["'`]""")  # by a bare _, which any metric's name has
# Calls that take a text apart, of strings and of regular expressions.
ON_TEXT = {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "split", "rsplit"}
ON_TEXT |= {"find", "rfind", "index", "replace", "strip", "lstrip", "rstrip"}
ON_TEXT |= {"compile", "match", "fullmatch", "search", "findall", "finditer", "sub", "fnmatch", "fnmatchcase"}


# The same in a script of the page: what is given to such a method, and a regular expression that is asked.
IN_SCRIPT = re.compile(
    r"""\.(?:startsWith|endsWith|includes|indexOf|match|matchAll|replace|replaceAll|search|split)\(\s*(["'`/])(.*?)\1"""
    r"""|/((?:[^/\\\n]|\\.)+)/[a-z]*\.(?:test|exec)\("""
    r"""|\.(?:slice|substring|at)\([^()]*\)\s*[!=]==\s*["'`](.*?)["'`]"""
)


def scripts() -> list[Path]:
    folders = (ROOT / "frontends" / "dashboard", ROOT / "service" / "exports")
    paths = [path for folder in folders for path in sorted(folder.rglob("*.js"))]
    assert len(paths) > 20
    return paths


def sources() -> list[Path]:
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    assert len(paths) > 150
    return paths


def _texts(node: ast.AST, named: dict[str, str]) -> Iterator[str]:
    """Every text in an expression, also where it stands under the name of a constant of its module."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value
        elif isinstance(inner, ast.Name) and inner.id in named:
            yield named[inner.id]


def decisions(source: str) -> list[str]:
    """Places of a module where a text is taken apart, or part of it compared, by something in metrics' names."""
    tree = ast.parse(source)
    named = {
        target.id: statement.value.value
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    return [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(tree)
        if isinstance(node, (ast.Call, ast.Compare))
        and (
            any(LOOKED_FOR.search(text) for each in _asked(node) for text in _texts(each, named))
            or (isinstance(node, ast.Call) and TAKEN_APART.search(ast.unparse(node.func) + "(" + _first(node)))
        )
    ]


def _asked(node: ast.Call | ast.Compare) -> list[ast.expr]:
    """What a text is searched for, or a part of it compared with."""
    if isinstance(node, ast.Call):
        return node.args if isinstance(node.func, ast.Attribute) and node.func.attr in ON_TEXT else []
    if any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops):
        # `"robust_" in name` asks for a part; a whole name may be asked for in a list of metrics.
        return [] if _is_whole(node.left) else [node.left]
    sides = [node.left, *node.comparators]
    return sides if any(isinstance(side, ast.Subscript) and _is_place(side.slice) for side in sides) else []


def _is_place(slice: ast.expr) -> bool:
    """`name[:7]` and `parts[0]`, not `report["epoch"]`."""
    return isinstance(slice, ast.Slice) or (isinstance(slice, ast.Constant) and isinstance(slice.value, int))


def _first(call: ast.Call) -> str:
    return ast.unparse(call.args[0]) if call.args else ""


def decisions_of_script(script: str) -> list[str]:
    apart = [match[0] for match in TAKEN_APART.finditer(script)]
    asked = [(match[0], match[2] or match[3] or match[4]) for match in IN_SCRIPT.finditer(script)]
    return apart + [place for place, text in asked if text not in SINGLE and LOOKED_FOR.search(text)]


def _is_whole(side: ast.expr) -> bool:
    return isinstance(side, ast.Constant) and side.value in SINGLE


@pytest.mark.parametrize(
    "line",
    [
        'name.startswith("robust_")',
        'name.endswith(("_bits", "_x"))',
        'name.removeprefix("weight_")',
        'name.partition("accuracy")',
        're.fullmatch(r"i_xz_.+", name)',
        'A = re.compile(r"accuracy(_.+)?")',
        '"robust_" in name',
        '"_stderr" not in name',
        'name[:7] == "robust_"',
        'PREFIX = "loss_"\nname.startswith(PREFIX)',
        'name.replace(f"{x}_stderr", "")',
        'name.split("_")',
        'name.rpartition("_")',
        'parts[0] == "robust"',
    ],
)
def test_a_decision_by_spelling_is_seen(line: str) -> None:
    assert len(decisions(line)) == 1


@pytest.mark.parametrize(
    "line",
    [
        'key.startswith("weighting.")',
        '"accuracy" in study.metrics',
        'metrics.get("accuracy")',
        "described(name).kind is Kind.RATE",
        'report["epoch"] == 3',
    ],
)
def test_a_whole_name_is_no_decision_by_spelling(line: str) -> None:
    assert decisions(line) == []


@pytest.mark.parametrize(
    "line",
    [
        'name.startsWith("weight_")',
        "names.filter((name) => name.endsWith('_bits'))",
        'name.includes("robust")',
        "name.replace(/^loss_/, '')",
        "if (/accuracy|i_xz_.+/.test(name)) {",
        "name.split(`_stderr`)",
        'name.split("_")[0] === kind',
        'name.slice(0, 7) === "robust_"',
    ],
)
def test_a_decision_of_a_script_by_spelling_is_seen(line: str) -> None:
    assert len(decisions_of_script(line)) == 1


def test_a_script_may_ask_for_a_whole_name() -> None:
    assert (
        decisions_of_script('metrics.includes("accuracy") || path.startsWith("weighting.") || /^s[0-9]+$/.test(id)')
        == []
    )


def test_no_module_decides_by_the_spelling_of_a_metrics_name() -> None:
    by_file = {
        str(path.relative_to(ROOT)): decisions(path.read_text()) for path in sources() if TABLE not in path.parents
    }
    by_file |= {str(path.relative_to(ROOT)): decisions_of_script(path.read_text()) for path in scripts()}
    assert {path: places for path, places in by_file.items() if places} == {}


def names_in(source: str) -> set[str]:
    """Metrics that a module names: texts that equal a name where a name can stand.

    Ordinary words are names too (`epoch`, `accuracy`): as an argument of a call that does not look something up, or as
    the value of a member of an enumeration, such a word is a word.
    """
    tree = ast.parse(source)
    words = {
        id(argument)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and not (isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop"))
        for argument in (*node.args, *(keyword.value for keyword in node.keywords))
    }
    words |= {
        id(statement.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.Assign)
    }
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in words)
    return {node.value for node in constants if isinstance(node.value, str) and node.value in SINGLE}


def quoted_in(script: str) -> set[str]:
    """Metrics that a script of the page names: any text in quotes that equals a name."""
    return {text for _, text in re.findall(r"""(["'`])([\w-]+)\1""", script) if text in SINGLE}


def test_a_name_is_seen_where_a_name_can_stand() -> None:
    source = """
class Kind(StrEnum):
    EPOCH = "epoch"
plural(3, "accuracy")
x = metrics.get("f1")
y = {"f2": 1}
z = name == "i_xz_bits"
for each in ("seconds", "test_examples"): pass
"""
    assert names_in(source) == {"f1", "f2", "i_xz_bits", "seconds", "test_examples"}
    assert quoted_in("""a["f1"] + 'i_xz_bits' + `epoch` + "accuracy-by-method" + accuracy""") == {
        "f1",
        "i_xz_bits",
        "epoch",
    }


def test_renaming_a_metric_touches_at_most_three_files() -> None:
    by_name: dict[str, list[str]] = {name: [] for name in SINGLE}
    for path in (*sources(), *scripts()):
        names = names_in(path.read_text()) if path.suffix == ".py" else quoted_in(path.read_text())
        for name in names:
            by_name[name].append(str(path.relative_to(ROOT)))
    assert all(by_name[name] for name in ("i_xz_bits", "accuracy", "epoch"))
    assert {name: files for name, files in by_name.items() if len(files) > MOST_FILES} == {}
