"""Every figure with every choice, and every export, of studies in which nothing is as it should be, as they were when
they were last looked at. `make goldens` writes them anew; the diff is then read like code.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from service.analysis.compared import compared
from service.exports.flat_tables import TABLES
from service.exports.formats import csv_pieces
from service.exports.latex import latex_table
from service.exports.methods import methods
from service.exports.names import disposition, file_stem
from service.exports.report import _facts, _figure_section, _made
from service.exports.report_tables import arms_table, trials_table
from service.figures import FIGURES
from service.figures.figure import Asked
from service.figures.timeline import draw_timeline, timeline_data
from service.views.view import View
from tests.golden.awkward import STUDIES
from tests.golden.test_goldens import VERSIONS, WRITE, same, scrubbed, write

FOLDER = Path(__file__).parent / "drawings"
MOST_CHOICES = 3  # of one control: the first ones differ as the others do
CHOSEN = ("troubled", "one-seed", "search", "tasks")  # the others are kept as they come
LATER = datetime(2026, 1, 1, 1, tzinfo=UTC)
CLOCK = "timeline"  # is asked for a time, not for the present


@cache
def view_of(study: str) -> View:
    return STUDIES[study]()


def asked(name: str, view: View, choices: bool) -> Iterator[tuple[str, Asked]]:
    """A figure as it comes, and with each of its choices alone."""
    yield "as it comes", Asked(view)
    for control in FIGURES[name].controls(view) if choices else ():
        values = [value for value, _ in control.options if value != control.default][:MOST_CHOICES]
        for value in [*values, *(["0.5"] if control.kind == "number" else [])]:
            yield f"{control.param}={value}", choosing(view, control.param, value)


def choosing(view: View, param: str, value: str) -> Asked:
    if param == "arm":
        return Asked(view, arms=(value,))
    if param == "trial":
        return Asked(view, trials=(value,))
    given: dict[str, Any] = {param: value}
    return Asked(view, **given)


def drawn(name: str, view: View, choices: bool) -> dict[str, Any]:
    figure = FIGURES[name]
    if name == CLOCK:
        return {"drawn": draw_timeline(timeline_data(view, LATER), "r")}
    each: dict[str, Any] = {"controls": [list(control) for control in figure.controls(view)]}
    for choice, own in asked(name, view, choices):
        words = figure.with_words(own)
        each[choice] = [words.subtitle, words.summary, words.empty, words.plotly["data"], words.plotly["layout"]]
    return each


def _section(name: str, view: View) -> str:
    return _figure_section(name, FIGURES[name].with_words(Asked(view)))


def exported(view: View) -> dict[str, Any]:
    comparison, described = compared(view), methods(view)
    return {
        "latex": latex_table(comparison, "a_study & co").splitlines(),
        "methods": [described.paragraph.split(". "), [[paper.key, paper.reason] for paper in described.citations]],
        "bibtex": described.bibtex.splitlines()[:20],
        "report": [
            _facts(view),
            _made(view, LATER),
            *(_section(name, view) for name in ("pareto-front", "importance")),
        ],
        "arms": arms_table(comparison).split("<tr>"),
        "trials": trials_table(view).split("<tr>")[:40],
        **{name: "".join(csv_pieces(table(view))).split("\r\n")[:40] for name, table in TABLES.items()},
        "file": disposition(file_stem(f"été {view.study.name}/☃ {'x' * 70}", view.id)),
    }


def lines_of(kept: dict[str, Any]) -> str:
    """JSON with a line for each part, so that a diff can be read and is not long."""
    parts = [
        f" {json.dumps(key)}: {json.dumps(part, ensure_ascii=False, separators=(',', ':'))}"
        for key, part in kept.items()
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def check(file: Path, found: dict[str, Any]) -> None:
    plain = scrubbed(json.loads(json.dumps(found)), {})
    if WRITE:
        write(file, plain, lines_of(plain))
    wanted = json.loads(file.read_text())
    differing = same(plain, wanted)
    assert not differing, f"{file.stem}: {len(differing)} differ, first {differing[:3]}"


@pytest.mark.parametrize("study", STUDIES)
def test_figures_are_drawn_as_they_were_looked_at(study: str) -> None:
    view = view_of(study)
    for name in FIGURES:
        if FIGURES[name].is_for(view):
            check(FOLDER / study / f"{name}.json", drawn(name, view, study in CHOSEN))
    offered = {path.stem for path in (FOLDER / study).glob("*.json")} - {"exports"}
    assert offered == {name for name in FIGURES if FIGURES[name].is_for(view)}, "what no longer applies is not kept"


@pytest.mark.parametrize("study", STUDIES)
def test_exports_are_written_as_they_were_looked_at(study: str) -> None:
    check(FOLDER / study / "exports.json", exported(view_of(study)))


def test_there_is_no_version_of_a_package_in_what_is_kept() -> None:
    assert not any(VERSIONS.search(file.read_text()) for file in FOLDER.glob("*/exports.json"))
