"""A quantity: how it is asked for, what it means, and how it is said."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from findings.expression import Question, unknown
from findings.wording import Said

KINDS = re.compile(r"(\[?)\b(ARM|METRIC|NUMBER|CONDITION|PATH)\b(…?)")
WORDS = re.compile(r"\[([a-z|]+)\]")

MANY = 1_000


class Quantity(NamedTuple):
    """`usage` is its signature: `difference(METRIC; ARM; ARM; [CONDITION…])`; what may be left out is in brackets.

    Words in small letters are said as they are: `[step|line]`.
    """

    usage: str
    doc: str
    say: Callable[[Question], Said]
    heading: Callable[[Question], str] | None = None  # above a column; none: its name

    @property
    def name(self) -> str:
        return self.usage.partition("(")[0]

    @property
    def words(self) -> list[str]:
        return [word for words in WORDS.findall(self.usage) for word in words.split("|")]

    def check(self, question: Question) -> None:
        """Arguments as many as the usage says, of each kind."""
        counts = question.given.counts()
        bounds = {kind: [0, 0] for kind in counts}
        for opening, kind, more in KINDS.findall(self.usage):
            bounds[kind][0] += 0 if opening else 1
            bounds[kind][1] += MANY if more else 1
        strange = [word for word in question.given.words if word not in self.words]
        if strange and not bounds["PATH"][1]:
            raise ValueError(f"{unknown(question.view, strange[0])}; usage: {self.usage}")
        for kind, count in (counts | {"PATH": len(strange)}).items():
            least, most = bounds[kind]
            if not least <= count <= most:
                raise ValueError(f"{self.name} takes {_so_many(least, most)} {kind}, got {count}; usage: {self.usage}")

    def headed(self, question: Question) -> str:
        return self.name if self.heading is None else self.heading(question)


def _so_many(least: int, most: int) -> str:
    return str(least) if least == most else f"{least} or more" if most >= MANY else f"{least} to {most}"
