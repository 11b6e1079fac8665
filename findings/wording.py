"""How a finding writes its numbers: as the page does, with the number of seeds wherever there are few."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from service.analysis import Interval
from service.analysis.intervals import share_interval
from service.contract.wording.numbers import NONE, decimals, number, share_ends, spread, whole

ENOUGH_SEEDS = 5  # behind a claim; with fewer the sentence says how few
ONE_TO_FOUR = {1: "one seed", 2: "two seeds"}


class Said(NamedTuple):
    """A number in words, and the seeds behind it where it is a mean over seeds."""

    text: str
    seeds: int | None = None
    of: int | None = None  # seeds of the study

    @property
    def few(self) -> str:
        """`3 seeds`, `4 of 5 seeds`; empty where there are enough and none is missing."""
        if self.seeds is None or not self.seeds:
            return ""
        if self.of is not None and self.seeds < self.of:
            return f"{self.seeds} of {self.of} seeds"
        return ONE_TO_FOUR.get(self.seeds, f"{self.seeds} seeds") if self.seeds < ENOUGH_SEEDS else ""

    @property
    def alone(self) -> str:
        """As it stands in a sentence."""
        return f"{self.text} ({self.few})" if self.few else self.text


def mean(interval: Interval, of: int | None = None) -> Said:
    """`32.9 ± 12.1`; of two seeds both values."""
    text = spread(interval.mean, interval.half_width, interval.low, interval.high)
    return Said(text, interval.seeds, of)


def signed(interval: Interval, of: int | None = None) -> Said:
    """`+0.002 ± 0.014`: both in the decimals of the half width's second digit, since 0 is what it is held against."""
    middle, half, seeds, low, high = interval
    if middle is None:
        return Said(NONE, seeds, of)
    if half is None:
        values = [low, high] if seeds == 2 and low is not None and high is not None else [middle]
        return Said(" and ".join(plus(value) + number(value) for value in values), seeds, of)
    if not half and not middle:
        return Said("0", seeds, of)  # in every seed between line and step, or the same
    if not half or not 1e-6 < half < 1e6:
        return Said(plus(middle) + spread(middle, half), seeds, of)
    places = max(0, 1 - math.floor(math.log10(half)))
    return Said(f"{decimals(middle, places, plus=True)} ± {decimals(half, places)}", seeds, of)


def counted(yes: int, of: int, shares: Sequence[float]) -> str:
    """`7 of 10 (40 to 89 %)`: Wilson's interval over seeds, each seed's share counted as one yes or no.

    Trials of one seed share what it drew, so that many of them are no more evidence than the seeds they come from.
    """
    lower, upper = share_interval(shares)[1:3]
    ends = "" if lower is None or upper is None else f" ({share_ends(lower, upper)} %)"
    return f"{whole(yes)} of {whole(of)}{ends}"


def plus(value: float) -> str:
    return "+" if value > 0 else ""
