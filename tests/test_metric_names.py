"""A metric's name is only a name: its nature is a row of the table, and nothing else spells it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.contract import metrics
from service.contract.metrics import FAMILIES, SINGLE
from service.contract.metrics.metric import PLACE
from tests.browser.test_scripts import code_of

ROOT = Path(__file__).parent.parent
PACKAGES = ("paretoscope", "service", "workers", "frontends", "findings")
TABLE = ROOT / "service" / "contract" / "metrics"
# The words that names are made of, one of which is enough to recognise a name by; not those of what a family is about.
OWN = [name for name, row in SINGLE.items() if row.family is None]
WORDS = {word for name in (*OWN, *(PLACE.sub("", f.name) for f in FAMILIES)) for word in name.split("_") if word[1:]}
_CODES, _WORDS = ("|".join(re.escape(name) for name in SINGLE if ("_" in name) is code) for code in (True, False))
IN_TEXT = re.compile(rf"(?<![\w.-])(?:(?:{_CODES})(?![\w-])|(?:{_WORDS})(?=:(?:\d|$)))")
LEAST = 3  # letters of a word that are enough, at its beginning or its end
# Words of a study or of a sentence that are spelled like a metric's name, or a part of it. These lists may only shrink.
ALSO_A_WORD = {
    "service/analysis/place_words.py": {"epoch"},  # "1 epoch", "2 epochs"
    "service/contract/catalog.py": {"seconds"},  # limits.seconds of a study
    "service/exports/methods.py": {"epoch"},  # "1 epoch", "2 epochs"
    "service/exports/training_in_words.py": {"epoch"},  # the same
    "service/routes/epochs.py": {"epoch"},  # the same
    "service/routes/cohorts.py": {"epoch"},  # of a saved state
    "workers/own_code/first_step.py": {"epoch", "estimator_samples"},  # a method, and a setting of a study's evaluation
    "frontends/dashboard/kit/metrics.js": {"accuracy", "epoch"},  # kinds of metrics
}
A_KEY = {"service/contract/study/balance_rules.py": ["'balance' in arm.training"]}
# Calls that take a text apart, of strings and of regular expressions.
ON_TEXT = {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "split", "rsplit"}
ON_TEXT |= {"find", "rfind", "index", "rindex", "count", "replace", "strip", "lstrip", "rstrip"}
ON_TEXT |= {"compile", "match", "fullmatch", "search", "findall", "finditer", "sub", "subn", "fnmatch", "fnmatchcase"}
TAKEN_APART = {"split", "rsplit", "partition", "rpartition"}


def sources() -> list[Path]:
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    assert len(paths) > 150
    return [path for path in paths if TABLE not in path.parents]


def scripts() -> list[Path]:
    folders = (ROOT / "frontends" / "dashboard", ROOT / "service" / "exports")
    paths = [path for folder in folders for path in sorted(folder.rglob("*.js"))]
    assert len(paths) > 20
    return paths


def recognises(text: str) -> bool:
    """Whether a part of some metric's name stands in a text that others are searched for; no name has a space."""
    parts = [] if " " in text else [part for part in re.split(r"[^a-z0-9]+", text) if part]
    return any(
        part in WORDS or (len(part) >= LEAST and any(w.startswith(part) or w.endswith(part) for w in WORDS))
        for part in parts
    )


# Python

LITERALS = (ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.JoinedStr, ast.BinOp, ast.Name, ast.Call)


class Module:
    """A module's tree, and what stands behind its names."""

    def __init__(self, source: str) -> None:
        self.tree = ast.parse(source)
        self._own: dict[str, ast.expr] = {}
        self._of_table: dict[str, str] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign):
                self._own |= {target.id: node.value for target in node.targets if isinstance(target, ast.Name)}
            elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and isinstance(node.target, ast.Name) and node.value:
                self._own[node.target.id] = node.value
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(metrics.__name__):
                named = {alias.asname or alias.name: getattr(metrics, alias.name, None) for alias in node.names}
                self._of_table |= {name: value for name, value in named.items() if isinstance(value, str)}

    def texts(self, node: ast.AST, of_table: bool, seen: frozenset[str] = frozenset()) -> Iterator[str]:
        """Every text in an expression, also behind names of the module, or of the table."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.Name) and node.id not in seen:
            if of_table and node.id in self._of_table:
                yield self._of_table[node.id]
            if isinstance(self._own.get(node.id), LITERALS):
                yield from self.texts(self._own[node.id], of_table, seen | {node.id})
        else:
            for inner in ast.iter_child_nodes(node):
                yield from self.texts(inner, of_table, seen)


def decisions(source: str) -> list[str]:
    """Places of a module where a text is taken apart, or part of it compared, by something in metrics' names."""
    module = Module(source)
    return [
        ast.unparse(node)
        for node in ast.walk(module.tree)
        if any(recognises(text) for part in asked(node) for text in module.texts(part, isinstance(node, ast.Call)))
        or is_taken_apart(node)
    ]


def is_taken_apart(node: ast.AST) -> bool:
    """By a bare `_`, which any metric's name has."""
    call = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    return call in TAKEN_APART and any(isinstance(arg, ast.Constant) and arg.value == "_" for arg in asked(node))


def asked(node: ast.AST) -> list[ast.expr]:
    """What a text is searched for, or a part of it compared with."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ON_TEXT:
        return [*node.args, *(keyword.value for keyword in node.keywords)]
    if not isinstance(node, ast.Compare):
        return []
    sides = [node.left, *node.comparators]
    if any(isinstance(side, ast.Subscript) and is_place(side.slice) for side in sides):
        return sides
    return [node.left] if isinstance(node.ops[0], (ast.In, ast.NotIn)) else []


def is_place(slice: ast.expr) -> bool:
    """`name[:7]` and `parts[0]`, not `report["epoch"]`."""
    return isinstance(slice, ast.Slice) or (isinstance(slice, ast.Constant) and isinstance(slice.value, int))


def within(text: str) -> set[str]:
    """Metrics that a text names: it is one, or has one in it that is no word of English, or one with a number."""
    return {text} & SINGLE.keys() | set(IN_TEXT.findall(text))


def spelled(source: str) -> set[str]:
    """Metrics that a module names, by themselves or in a sentence of its help, messages and docstrings."""
    texts = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    return {name for text in texts if isinstance(text, str) for name in within(text)}


@pytest.mark.parametrize(
    "line",
    [
        'name.startswith("robust_")',
        'name.endswith(("_bits", "_x"))',
        'name.endswith("bits")',
        'name.startswith("accur")',
        'name.removeprefix("weight_")',
        'name.partition("accuracy")',
        'name.count("stderr")',
        're.fullmatch(r"i_xz_.+", name)',
        'A = re.compile(r"accuracy(_.+)?")',
        '"robust_" in name',
        '"loss" in name',
        '"_stderr" not in name',
        'name[:7] == "robust_"',
        'name[:4] in ("loss", "gap")',
        'PREFIX = "loss_"\nname.startswith(PREFIX)',
        'PREFIXES = ("robust_", "x")\nname.startswith(PREFIXES)',
        'PREFIXES = frozenset({"robust_", "x"})\nname.startswith(tuple(PREFIXES))',
        'A = "robust_"\nB = {A: 1}\nname.startswith(tuple(B))',
        'ROBUST: Final = "robust_"\nname.startswith(ROBUST)',
        'def f():\n    own = "robust_"\n    return name.startswith(own)',
        "from service.contract.metrics import ACCURACY\nname.endswith(ACCURACY)",
        "from service.contract.metrics.table import ACCURACY as A\nname.endswith(A)",
        'name.replace(f"{x}_stderr", "")',
        'name.split("_")',
        'name.rpartition("_")',
        'parts[0] == "robust"',
    ],
)
def test_a_decision_by_spelling_is_seen(line: str) -> None:
    assert len(decisions(line)) == 1


def test_two_decisions_are_two() -> None:
    assert len(decisions('"loss" in name or "weight" in name')) == 2


@pytest.mark.parametrize(
    "line",
    [
        'key.startswith("weighting.")',
        "from service.contract.metrics import ACCURACY\nACCURACY in study.metrics",
        "metrics.get(ACCURACY)",
        "described(name).kind is Kind.RATE",
        'report["epoch"] == 3',
        'label.startswith("weight of ")',
    ],
)
def test_what_is_no_decision_by_spelling_is_let_be(line: str) -> None:
    assert decisions(line) == []


@pytest.mark.parametrize(
    "line",
    [
        'name in ("accuracy", "x")',
        'UNITS = {"accuracy": "%"}.get(name)',
        'name == "accuracy"',
        "match name:\n    case 'accuracy':\n        pass",
        'class Known(StrEnum):\n    ACCURACY = "accuracy"',
        'find("accuracy")',
        'help="as accuracy:0.95"',
        'say(f"as accuracy:{least}")',
    ],
)
def test_a_whole_name_is_seen_wherever_it_is_spelled(line: str) -> None:
    assert spelled(line) == {"accuracy"}


@pytest.mark.parametrize(
    "line",
    [
        'raise ValueError("by metric(accuracy; i_xz_bits)")',
        'help=f"as {name} or i_xz_bits:8"',
        'def f():\n    """So i_xz_bits is null."""',
    ],
)
def test_a_name_is_seen_in_a_sentence_too(line: str) -> None:
    assert spelled(line) == {"i_xz_bits"}


@pytest.mark.parametrize(
    "line", ['"the accuracy of each epoch"', '"accuracy-by-method"', '"my_i_xz_bits_too"', "i_xz_bits = 1"]
)
def test_a_word_of_english_is_no_name(line: str) -> None:
    assert spelled(line) == set()


# Scripts of the page

QUOTED = r"""(?:"[^"\n]*"|'[^'\n]*'|`[^`]*`)"""
REGEX = r"""(?<=[(=,:|&!?;\s\[])/(?![/*\s])(?:[^/\\\n]|\\.)+/[a-z]*"""
METHODS = "startsWith|endsWith|includes|indexOf|lastIndexOf|match|matchAll|replace|replaceAll|search|split|RegExp"
# What is given to a method that takes a text apart, and what a part of a text is compared with.
GIVEN = re.compile(rf"\b(?:{METHODS})\(\s*({QUOTED}|[\w.]+)")
COMPARED = re.compile(
    rf"\.(?:slice|substring|substr|at|charAt)\([^()]*\)\s*[!=]==?\s*({QUOTED})|\]\s*===?\s*({QUOTED})"
)
CONSTANT = re.compile(r"\b(?:const|let|var)\s+(\w+)\s*=\s*([^;]*);")


def decisions_of_script(script: str) -> list[str]:
    """Places of a script where a text is taken apart, or part of it compared, by something in metrics' names."""
    behind = {name: re.findall(QUOTED, value) for name, value in CONSTANT.findall(script)}
    given = [text for each in GIVEN.findall(script) for text in behind.get(each, [each])]
    given = [text for text in given if text[0] in "\"'`"]
    given += [text for texts in COMPARED.findall(script) for text in texts if text]
    # A loop over a list of parts: `PARTS.some((part) => name.includes(part))`.
    given += [
        text
        for name, texts in behind.items()
        if re.search(rf"\b{name}\.(?:some|find|every)\(", script)
        for text in texts
    ]
    apart = re.findall(r"""\.split\(["'`]_["'`]""", script)
    return apart + [text for text in (*(g[1:-1] for g in given), *re.findall(REGEX, script)) if recognises(text)]


def quoted(script: str) -> set[str]:
    """Metrics that a script names: any text in quotes that equals a name, or a metric taken by its name."""
    texts = {text[1:-1] for text in re.findall(QUOTED, script)} | set(re.findall(r"metrics\??\.(\w+)\b", script))
    return {name for text in texts for name in within(text)}


@pytest.mark.parametrize(
    "line",
    [
        'name.startsWith("weight_")',
        'name.endsWith("bits")',
        "names.filter((name) => name.endsWith('_bits'))",
        'name.includes("robust")',
        "name.replace(/^loss_/, '')",
        "if (/accuracy|i_xz_.+/.test(name)) {",
        "const isGap = (name) => /gap$/.test(name);",
        "const GAP = /gap$/i;\nGAP.test(name)",
        'new RegExp("gap$").test(name)',
        "name.split(`_stderr`)",
        'name.split("_")[0] === kind',
        'name.slice(0, 7) === "robust_"',
        'parts[0] === "robust"',
        'const PREFIX = "robust_";\nname.startsWith(PREFIX)',
        'const PARTS = ["robust_", "x"];\nPARTS.some((part) => name.includes(part))',
    ],
)
def test_a_decision_of_a_script_by_spelling_is_seen(line: str) -> None:
    assert len(decisions_of_script(line)) == 1


def test_two_decisions_of_a_script_are_two() -> None:
    assert decisions_of_script('name.includes("loss") || /gap$/.test(name)') == ["loss", "/gap$/"]


def test_a_script_may_take_other_texts_apart() -> None:
    code = 'path.startsWith("weighting.") || /^s[0-9]+$/.test(id) || metric.kind === "rate" || a / gap / b'
    assert decisions_of_script(code) == []


def test_a_whole_name_in_a_script_is_seen_in_any_quotes() -> None:
    code = """a["f1"] + 'i_xz_bits' + `epoch` + "accuracy-by-method" + trial.metrics.accuracy + accuracy"""
    assert quoted(code) == {"f1", "i_xz_bits", "epoch", "accuracy"}


# The house


def test_no_module_decides_by_the_spelling_of_a_metrics_name() -> None:
    places = {str(path.relative_to(ROOT)): decisions(path.read_text()) for path in sources()}
    places |= {str(path.relative_to(ROOT)): decisions_of_script(code_of(path.read_text())) for path in scripts()}
    assert {path: found for path, found in places.items() if found} == A_KEY


def test_no_module_outside_the_table_spells_a_metrics_name() -> None:
    """So renaming one touches the table only; studies, presets and pages, which name metrics too, are no modules."""
    names = {str(path.relative_to(ROOT)): spelled(path.read_text()) for path in sources()}
    names |= {str(path.relative_to(ROOT)): quoted(code_of(path.read_text())) for path in scripts()}
    assert {path: found for path, found in names.items() if found} == ALSO_A_WORD


def test_the_table_is_seen_to_spell_them() -> None:
    assert {"i_xz_bits", "accuracy", "epoch", "f1"} <= spelled((TABLE / "table.py").read_text())
