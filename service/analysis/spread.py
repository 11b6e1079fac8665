"""What is measured against a front, over seeds: by both readings of it, and by the one that decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from service.analysis.intervals import Interval, mean_interval
from service.analysis.readings import Reading

ROUNDING = 1e-9  # relative; seeds that differ by less do not differ


class Spread(NamedTuple):
    """Means over seeds of the two readings; seed by seed the line promises no more than the step.

    `most` and `least` are what it may be better and worse by: line and step, but the other one in seeds in which the
    front does not reach what is measured, so that what is not known there is no proof of being on the front.
    """

    step: Interval
    line: Interval
    most: Interval
    least: Interval

    @property
    def decides(self) -> Literal["step", "line"] | None:
        """The line where it is beaten, the step where it is not reached; none where the mean lies between them."""
        if self.line.mean is not None and self.line.mean > 0:
            return "line"
        return "step" if self.step.mean is not None and self.step.mean < 0 else None

    @property
    def told(self) -> Interval:
        """The reading that decides, or 0 between them, ± as far as it may lie off.

        The readings are averaged first and held against 0 then. The other way round noise beyond the line would count,
        noise between line and step would not, and an arm on the front would drift above it.
        """
        step, line = self.step, self.line
        if self.decides is not None or line.mean is None:
            return step if self.decides == "step" else line
        half = None if line.half_width is None else self.off()
        return Interval(0.0, half, line.seeds, min(step.low or 0.0, 0.0), max(line.high or 0.0, 0.0))

    def off(self, *, by_mean: bool = False) -> float:
        """How far off the front it may lie: by the ends of the intervals, or by the means alone."""
        over, under = (0.0 if by_mean else each.half_width or 0.0 for each in (self.most, self.least))
        return max(0.0, (self.most.mean or 0.0) + over, under - (self.least.mean or 0.0))


NOTHING = Spread(*[Interval(None, None, 0)] * 4)


def spread_of(by_seed: Sequence[Reading], blind: Sequence[bool] | None = None) -> Spread:
    """Of each seed's readings; `blind` says where the front does not reach."""
    unknown = blind or [False] * len(by_seed)
    pairs = [(r.line, r.step) if lost else (r.step, r.line) for r, lost in zip(by_seed, unknown, strict=True)]
    step, line = (seeds_mean([r[i] for r in by_seed]) for i in (0, 1))
    least, most = (seeds_mean([r[i] for r in pairs]) for i in (0, 1))
    return Spread(step, line, most, least)


def seeds_mean(values: Sequence[float]) -> Interval:
    """Their mean; values that differ by rounding alone have no spread."""
    same = len(values) > 1 and np.ptp(values) <= ROUNDING * np.max(np.abs(values))
    return mean_interval([values[0]] * len(values) if same else values)
