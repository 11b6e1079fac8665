"""A row of the table: two times of one run, and how many times the second goes into the first."""

from __future__ import annotations

from typing import NamedTuple

from findings.speed import Group


class Row(NamedTuple):
    key: str  # by which the row is kept and renewed
    group: Group
    what: str  # `first / second`
    first: float
    second: float
    unit: str = "s"
    median: float | None = None  # of ratios within rounds, where there were any
    between: tuple[float, float] | None = None  # its 95 % interval

    @property
    def ratio(self) -> float:
        return self.first / self.second if self.median is None else self.median
