"""A row of the table: two times of one run, and how many times the second goes into the first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from findings.speed import Group


class Row(NamedTuple):
    key: str  # by which the row is kept and renewed
    group: Group
    what: str  # `first / second`
    first: float
    second: float | None  # none: it was not possible
    unit: str = "s"
    median: float | None = None  # of ratios within rounds, where there were any
    between: tuple[float, float] | None = None  # its 95 % interval
    stacking: str | None = None  # what a cohort of a user's model says of how it trains
    apart: float | None = None  # the largest difference of its stacked members' numbers to those alone

    @property
    def ratio(self) -> float | None:
        return self.first / self.second if self.median is None and self.second else self.median


def row_of_rounds(key: str, group: Group, what: str, first: Sequence[float], second: Sequence[float], unit: str) -> Row:
    """Each round has both, one right after the other, so that what disturbs is there for both: the median of ratios."""
    ratios = sorted(a / b for a, b in zip(first, second, strict=True))
    return Row(key, group, what, median(first), median(second), unit, median(ratios), ends(ratios))


def ends(ordered: Sequence[float]) -> tuple[float, float]:
    """Of the median's 95 % interval, by the ranks between which it lies whatever the values are distributed like."""
    count = len(ordered)
    rank = max(1, math.floor((count - 1.96 * math.sqrt(count)) / 2))
    return ordered[rank - 1], ordered[count - rank]
