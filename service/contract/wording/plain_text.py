"""Text that is safe to print: in a terminal, a log, a table.

Control characters can clear a screen or forge a line of a log; marks of direction and line ends that only some programs
know show a reader something else than what is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AfterValidator, Field

# C0 and C1 with tab and line ends, line and paragraph separators, marks of direction, the byte order mark.
HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
# What words for people may have besides: they go over several lines.
IN_LINES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
ESCAPES = re.compile("\x1b\\[[0-?]*[ -/]*[@-~]")  # colours and the like, as progress bars print them


def hidden_in(text: str) -> str | None:
    """The rule, and what breaks it; none where nothing does."""
    if character := HIDDEN.search(text):
        return f"must not have control characters or marks of direction, got U+{ord(character[0]):04X}"
    return None


def _plain(text: str) -> str:
    if rule := hidden_in(text):
        raise ValueError(rule)
    return text


def _plain_lines(text: str) -> str:
    if character := IN_LINES.search(text):
        raise ValueError(f"must not have control characters or marks of direction, got U+{ord(character[0]):04X}")
    return text


PlainText = Annotated[str, AfterValidator(_plain)]
LONGEST_WORD = 1000
Word = Annotated[PlainText, Field(max_length=LONGEST_WORD)]  # a value that goes into a column of every table
PlainLines = Annotated[str, AfterValidator(_plain_lines)]  # with tabs and line ends


def printable(text: str) -> str:
    """Words that a program wrote: what cannot be shown is left out, never a reason to refuse them."""
    return IN_LINES.sub("\ufffd", ESCAPES.sub("", text)) if IN_LINES.search(text) else text


def one_line(text: str) -> str:
    """What somebody wrote, quoted in words of ours: without what cannot be shown, and without line ends."""
    return HIDDEN.sub("\ufffd", text)


def hidden_places(body: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every text in what a user wrote that has such characters, keys too: its place, and the rule it breaks."""
    waiting = [(at, body)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, str) and (rule := hidden_in(value)):
            yield place, rule
        elif isinstance(value, dict):
            for key, inner in value.items():
                if isinstance(key, str) and (rule := hidden_in(key)):
                    yield place, f"a key {rule}"
                else:
                    waiting.append(((*place, key if isinstance(key, int) else str(key)), inner))
        elif isinstance(value, list):
            waiting += [((*place, i), inner) for i, inner in enumerate(value)]
