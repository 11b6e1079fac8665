"""Numbers of a text that nobody vouches for: neither written from a study, nor cited, nor held by a test, nor harmless.

A page about studies has none at all. Other pages have formulas, rules and settings, whose numbers were not measured:
of them only those count that look measured, which are decimals, numbers with a unit, spreads and proportions in words;
settings stand in code. There a command may vouch that measures without keeping a study, with the day on which it did.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from findings.texts import MARKED
from service.contract.metrics import EPOCH, SECONDS

TESTED = re.compile(r"<!--tested: ([^:>]+)::([A-Z_]+)-->(.*?)<!--/-->", re.DOTALL)
# Parts of a page that make no claim: code, cited numbers, other comments, headings, addresses of links and pictures.
APART = re.compile(
    rf"<!--cited-->.*?<!--/-->|{TESTED.pattern}|<!--.*?-->"
    r"|^#+ .*?$|!\[[^\]]*\]\([^)]*\)|\]\([^)]*\)|</?[A-Za-z][^<>]*>",
    re.DOTALL | re.MULTILINE,
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

MEASURED = re.compile(r"<!--measured: make (\S+)[^,>]*, (\d{4}-\d\d-\d\d)-->.*?<!--/-->", re.DOTALL)
# What makes a number look measured: "0.06", "8 %", "± 3", "n = 8", but not "0.1·N(0, 1)" or "±0.2", parts of a formula.
UNITS = COUNTED - {f"{EPOCH}s"} | {"%", "bit", "nat", "nats", "s", "ms", "studies", "min", "minute", "hour", "kB", "MB"}
UNITS = {unit.lower() for unit in UNITS}
IN_PROPORTION = re.compile(r"\s(?:slower|faster|more|less|fewer|longer|shorter|larger|smaller|as)\b")  # times
NEXT = re.compile(r"\s?(%|[^\W\d_]+)")
SPREAD = re.compile(r"(?:±\s|\bn = )$")
DECIMAL = re.compile(r"\d\.\d")
OPERATORS = frozenset("±·/^×°<>≤≥∓")


class Unmarked(NamedTuple):
    line: int
    number: str


def unmarked(text: str, first_line: int = 1) -> list[Unmarked]:
    """In the order of the text; digits, and counts in words where something measured is counted."""
    words = _claims(text)
    return [
        Unmarked(first_line + words.count("\n", 0, match.start()), _said(match))
        for match in NUMBER.finditer(words)
        if match[1] is None or (match[1].lower() in IN_WORDS and match[2].lower() in COUNTED)
    ]


def looking_measured(text: str, first_line: int = 1) -> list[Unmarked]:
    """The same of a page about something else: digits that look measured, and words such as `ten times slower`."""
    words = _claims(MEASURED.sub(_blank, text))
    return [
        Unmarked(first_line + words.count("\n", 0, match.start()), _said(match))
        for match in NUMBER.finditer(words)
        if (_looks_measured(words, match) if match[1] is None else _is_proportion(words, match))
    ]


class Tested(NamedTuple):
    """A number that a constant of a test is said to hold, as the text says it: `less than 8 %`."""

    path: str
    constant: str
    text: str

    @property
    def number(self) -> float:
        """The one that is said."""
        (digits,) = re.findall(r"\d[\d.]*", self.text)
        return float(digits) / (100 if "%" in self.text else 1)


def numbers_of_tests(text: str) -> list[Tested]:
    """Those of a text; what is marked otherwise is nobody's."""
    return [Tested(*own) for own in TESTED.findall(text)]


def measuring_commands(text: str) -> list[str]:
    """The targets of the Makefile that measured numbers of a text."""
    return [target for target, _ in MEASURED.findall(text)]


def _claims(text: str) -> str:
    for part in (MARKED, APART, PLACES):
        text = part.sub(_blank, text)
    return HARMLESS.sub(lambda match: _blank(match) if any(map(str.isdigit, match[0])) else match[0], text)


def _looks_measured(text: str, match: re.Match[str]) -> bool:
    end = match.start() + len(_said(match))
    before, after = text[max(0, match.start() - 4) : match.start()], text[end : end + 12]
    unit = NEXT.match(after)
    if (unit and unit[1].lower() in UNITS) or SPREAD.search(before):
        return True
    return bool(DECIMAL.search(match[0])) and not OPERATORS & {before[-1:], after[:1]}


def _is_proportion(text: str, match: re.Match[str]) -> bool:
    ratio = match[1].lower() in IN_WORDS and match[2].lower() == "times"
    return ratio and IN_PROPORTION.match(text, match.end(2)) is not None


def _said(match: re.Match[str]) -> str:
    return match[0].rstrip(".,") if match[1] is None else f"{match[1]} {match[2]}"


def _blank(match: re.Match[str]) -> str:
    """Nothing, in as many lines."""
    return " " + "\n" * match[0].count("\n")
