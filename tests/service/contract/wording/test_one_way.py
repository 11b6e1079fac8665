"""Numbers for people are written by `numbers.py`, on the page by `format.js`: all sources are read for other ways."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[4]
ROOMS = ("service", "workers", "frontends", "paretoscope", "findings")
THE_WAYS = {"service/contract/wording/numbers.py", "frontends/dashboard/kit/format.js"}
NO_WORDS = {
    "service/exports/report.py": "a height in CSS",
    "service/figures/attainment_difference.py": "a colour in CSS",
    "frontends/dashboard/figures/pointer.js": "places of marks in SVG",
    "frontends/dashboard/figures/spark.js": "places on a path in SVG",
    "frontends/dashboard/kit/yaml.js": "a number that YAML reads again",
}
PRINTED = re.compile(r"%[-+#0]*\d*(\.\d+)?[efgEFG]")  # "%.3g" of a log line
BY_PLOTLY = re.compile(r"%\{\w+:[^}]*\}")  # "%{x:.3g}", which d3 writes
BY_SCRIPT = re.compile(r"\.to(Fixed|Precision|Exponential|LocaleString)\(|Intl\.NumberFormat")
ROUNDED = re.compile(r"Number\(\w+\.toPrecision\(\d+\)\)")  # a number again


def in_python(text: str) -> Iterator[str]:
    """Formats of floats; `float(f"{x:.4g}")` is none: it is a number again."""
    tree = ast.parse(text)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "float"]
    rounded = {part for call in calls for argument in call.args for part in ast.walk(argument)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None and node not in rounded:
            spec = ast.unparse(node.format_spec)[2:-1]
            yield from [spec] if re.search(r"[efgnEFGN%]$", spec) else []
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (match[0] for way in (PRINTED, BY_PLOTLY) for match in way.finditer(node.value))


def in_script(text: str) -> Iterator[str]:
    yield from (match[0] for way in (BY_SCRIPT, BY_PLOTLY) for match in way.finditer(ROUNDED.sub("", text)))


def test_ways_are_told_from_what_is_no_text() -> None:
    assert [*in_python('f"{a:.3g} {b} {c:>{width}} {d:,} {e:02d} {f:,.0f} {g:.1%} {h:g}"')] == [
        *(".3g", ",.0f", ".1%", "g")
    ]
    assert [*in_python('log.info("%d in %.3g s", n, t)')] == ["%.3g"]
    assert [*in_python("f'%{{x:.3g}} %{{text}}<br>50 % each'")] == ["%{x:.3g}"]
    assert [*in_python('float(f"{x:.4g}")')] == []
    assert [*in_script("x.toFixed(1) + x.toLocaleString()")] == [".toFixed(", ".toLocaleString("]
    assert [*in_script("Number(x.toPrecision(4)); `%{x}`; `%{y:.3g}`")] == ["%{y:.3g}"]


def test_numbers_for_people_are_written_in_one_way() -> None:
    readers = {".py": in_python, ".js": in_script, ".html": in_script}
    files = [file for room in ROOMS for file in sorted((ROOT / room).rglob("*")) if file.suffix in readers]
    ways = {file.relative_to(ROOT).as_posix(): [*readers[file.suffix](file.read_text())] for file in files}
    own = {name: found for name, found in ways.items() if found and name not in THE_WAYS}
    assert {name.partition("/")[0] for name in ways} == set(ROOMS)
    assert len(files) > 250
    assert {name: found for name, found in own.items() if name not in NO_WORDS} == {}
    assert own.keys() == NO_WORDS.keys(), "a reason that nothing needs any more"
