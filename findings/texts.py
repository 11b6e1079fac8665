"""Texts with marked numbers: `<!--= study: quantity -->text<!--/-->`, the text written from the kept study.

After `<!--study: name-->` the study's name can be left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from findings import speed
from findings.expression import Question, arguments, parsed
from findings.finding import Finding
from findings.folder import ROOT, load
from findings.quantities import quantity_named
from findings.replay import view_of
from findings.tables import is_table, table
from service.contract.wire.errors import ParetoscopeError
from service.contract.wording.numbers import NONE
from service.views.fold import StudyView

END = "<!--/-->"
# What stands in code is no marker, so that a page can show how one is written.
CODE = r"^ *```.*?^ *```|`[^`\n]*`"
MARKED = re.compile(
    rf"{CODE}|<!--study:(?P<study>.*?)-->|<!--=(?P<asked>.*?)-->(?P<text>.*?)<!--/-->", re.DOTALL | re.MULTILINE
)
OF_STUDY = re.compile(r"(?:(?P<study>[\w.-]+): )?(?P<asked>.+)", re.DOTALL)


class Marker(NamedTuple):
    """Where something is asked, of which study, and what is written there."""

    start: int
    end: int
    study: str
    asked: str
    text: str


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@lru_cache(maxsize=64)
def studied(name: str) -> tuple[Finding, StudyView]:
    finding = load(name)
    return finding, view_of(finding)


def said(name: str, asked: str) -> str:
    """What a kept study answers: a number in words, or a table; what is kept of `make bench` has its own questions."""
    if name == speed.NAME:
        return speed.said(asked)
    finding, view = studied(name)
    try:
        if is_table(asked):
            return table(finding, view, asked)
        named, parts = parsed(asked)
        quantity, question = quantity_named(named), Question(finding, view, arguments(view, parts))
        quantity.check(question)
        answer = quantity.say(question).alone
    except ParetoscopeError as error:
        raise ValueError(error.message) from error
    if answer == NONE:
        raise ValueError(f"{asked!r} has no value in {name}")
    return answer


def markers(text: str, place: str) -> list[Marker]:
    """Every marker of a text."""
    every, study = [], ""
    for match in MARKED.finditer(text):
        if match["study"] is not None:
            study = match["study"].strip()
        if match["asked"] is None:
            continue
        where = f"{place}:{_line(text, match.start())}"
        if "<!--=" in match["text"]:
            raise ValueError(f"{where}: a marker is not closed by {END} before the next one begins")
        asked = OF_STUDY.fullmatch(" ".join(match["asked"].split()))
        name = asked["study"] or study if asked else ""
        if asked is None or not name:
            raise ValueError(f"{where}: a marker is <!--= study: quantity -->, got {match['asked']!r}")
        every.append(Marker(*match.span("text"), name, asked["asked"], match["text"]))
    left = MARKED.sub(lambda match: "\n" * match[0].count("\n"), text)
    if "<!--=" in left:
        raise ValueError(f"{place}:{_line(left, left.index('<!--='))}: a marker is not closed by {END}")
    return every


def rendered(text: str, place: str, say: Callable[[str, str], str] = said) -> str:
    """The text with every marked number as its study has it. What only differs in line breaks stays."""
    pieces, done = [], 0
    for marker in markers(text, place):
        try:
            answer = say(marker.study, marker.asked)
        except ValueError as error:
            raise ValueError(f"{place}:{_line(text, marker.start)}: {error}") from error
        if is_table(marker.asked) or speed.is_table(marker.asked):
            answer = f"\n{answer}\n"
        elif _flat(marker.text) == _flat(answer):
            answer = marker.text
        pieces += [text[done : marker.start], answer]
        done = marker.end
    return "".join([*pieces, text[done:]])


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _flat(text: str) -> str:
    """Without line breaks, and the signs of a quotation that follow them."""
    return " ".join(re.sub(r"\n\s*>", "\n", text).split())
