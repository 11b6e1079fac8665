"""Whoever reads a number of a study reads how many seeds are behind it, nearby."""

from __future__ import annotations

import re

import pytest

from findings import speed
from findings.tables import is_table
from findings.texts import Marker, markers
from tests.test_findings import RULED, text_of

PARAGRAPH = re.compile(r"(?:[^\n]+\n?)+")
FINDINGS = "README.md ## What we found"


def tells_seeds(marker: Marker) -> bool:
    """By itself, beside date and version, or in the head of a table."""
    return marker.asked in ("seeds", "measured") or is_table(marker.asked)


def is_of_seeds(marker: Marker) -> bool:
    """A setting is the study's, whatever its seeds; what the bench measured has rounds."""
    return marker.study != speed.NAME and not marker.asked.startswith("setting(")


def untold(text: str, place: str) -> set[str]:
    """Studies that are quoted without their seeds."""
    every = markers(text, place)
    return {own.study for own in every if is_of_seeds(own)} - {own.study for own in every if tells_seeds(own)}


def paragraphs(text: str) -> list[str]:
    """Each with the study that is spoken of where it begins."""
    every, study = [], ""
    for own in PARAGRAPH.findall(text):
        every.append(f"<!--study: {study}-->{own}")
        study = [study, *re.findall(r"<!--study: (.*?)-->", own)][-1]
    return every


def test_every_paragraph_of_the_findings_tells_the_seeds_of_every_study_that_it_quotes() -> None:
    quoting = [own for own in paragraphs(text_of(FINDINGS)[0]) if any(map(is_of_seeds, markers(own, FINDINGS)))]
    lacking = {own.partition("**")[2].partition("**")[0]: names for own in quoting if (names := untold(own, FINDINGS))}
    assert len(quoting) > 5 and lacking == {}


def test_every_paragraph_that_quotes_the_bench_tells_its_rounds() -> None:
    priced = [own for own in paragraphs(text_of(FINDINGS)[0]) if "speed: ratio(every-" in own]
    assert priced and all("every.py::ROUNDS-->" in own and "every.py::FEWER-->" in own for own in priced)


@pytest.mark.parametrize("place", [place for place in RULED if place != FINDINGS])
def test_every_page_about_studies_tells_the_seeds_of_each(place: str) -> None:
    assert untold(text_of(place)[0], place) == set()


def test_what_is_quoted_without_its_seeds_is_found() -> None:
    one = "<!--study: a-->**One** <!--= best(x) -->3<!--/--> of <!--= seeds -->5<!--/-->"
    said = f"{one}\n\n**Two** <!--= best(x) -->3<!--/-->\n"
    assert [untold(own, "page") for own in paragraphs(said)] == [set(), {"a"}]
    assert untold(said, "page") == set()
    assert untold("<!--= b: setting(x) -->3<!--/--> <!--= b: by arm | best(x) -->\n3<!--/-->", "page") == set()
    assert untold("<!--= b: measured -->3<!--/--> <!--= c: best(x) -->3<!--/-->", "page") == {"c"}
