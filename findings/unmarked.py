"""Numbers of a text that nobody vouches for: neither written from a study, nor cited, nor harmless."""

from __future__ import annotations

import re
from typing import NamedTuple

from findings.texts import MARKED
from service.contract.metrics import EPOCH, SECONDS

# Parts of a page that make no claim: code, cited numbers, other comments, headings, addresses of links and pictures.
APART = re.compile(
    r"<!--cited-->.*?<!--/-->|<!--.*?-->|^#+ .*?$|!\[[^\]]*\]\([^)]*\)|\]\([^)]*\)|<[^>]*>", re.DOTALL | re.MULTILINE
)
HARMLESS = re.compile(
    r"""
      N\(0,\sI\)
    | (?:\b[A-Z]\w+|\bal\.|\()\s?(?:19|20)\d\d\b  # years of papers
    | \b\d+\.\d+\.\d+\b                           # versions
    | \b95\s%                                     # of an interval
    | ^\s*\d+\.\s                                 # a numbered list
    | \b[^\W\d_]\w*(?:-\w+)*                      # names: L1, ResNet-18, CIFAR-10
    """,
    re.VERBOSE | re.MULTILINE,
)
# "table 3", "tables 3 and 4", "equation (7)" of a paper.
PLACES = re.compile(
    r"\b(?:tables?|sections?|appendix|figures?|equations?|chapters?) \(?\d+\)?(?:(?:, | and | to )\d+)*"
)
COUNTED = {f"{EPOCH}s", SECONDS, "seeds", "trials", "times", "bits", "points", "percent", "minutes", "hours"}
IN_WORDS = {
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "twenty",
    "fifty",
}
IN_WORDS |= {"hundred", "thousand"}
NUMBER = re.compile(r"\d[\d.,]*|\b([^\W\d]+)\s+(?=([^\W\d]+))")  # or a word and the next


class Unmarked(NamedTuple):
    line: int
    number: str


def unmarked(text: str, first_line: int = 1) -> list[Unmarked]:
    """In the order of the text; digits, and counts in words where something measured is counted."""
    for part in (MARKED, APART, PLACES):
        text = part.sub(_blank, text)
    words = HARMLESS.sub(lambda match: _blank(match) if any(map(str.isdigit, match[0])) else match[0], text)
    return [
        Unmarked(first_line + words.count("\n", 0, match.start()), _said(match))
        for match in NUMBER.finditer(words)
        if match[1] is None or (match[1].lower() in IN_WORDS and match[2].lower() in COUNTED)
    ]


def _said(match: re.Match[str]) -> str:
    return match[0].rstrip(".,") if match[1] is None else f"{match[1]} {match[2]}"


def _blank(match: re.Match[str]) -> str:
    """Nothing, in as many lines."""
    return " " + "\n" * match[0].count("\n")
