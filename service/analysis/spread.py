"""What is measured against a front, over seeds: by both readings of it, and by the one that decides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from service.analysis.intervals import Interval, mean_interval
from service.analysis.readings import Reading

ROUNDING = 1e-9  # relative; seeds that differ by less do not differ


class Spread(NamedTuple):
    """Means over seeds of the two readings; seed by seed the line promises no more than the step.

    Those of the seeds in which the front reaches what is measured are known: the others speak against a claim that it
    lies off the front, and must not speak for one that it lies on it.
    """

    step: Interval
    line: Interval
    known_step: Interval
    known_line: Interval

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
        off = self.off()
        half = None if math.isinf(off) else off
        return Interval(0.0, half, line.seeds, min(step.low or 0.0, 0.0), max(line.high or 0.0, 0.0))

    def off(self) -> float:
        """How far off the front it may lie, by the ends of the known intervals; ∞ without any."""
        step, line = self.known_step, self.known_line
        under, over = step.half_width, line.half_width
        if step.mean is None or line.mean is None or under is None or over is None:
            return math.inf
        return max(0.0, line.mean + over, under - step.mean)

    def short(self) -> float:
        """How far under the line it may lie, where the step may still be far below it; likewise."""
        line = self.known_line
        half = line.half_width
        return math.inf if line.mean is None or half is None else max(0.0, half - line.mean)


NOTHING = Spread(*[Interval(None, None, 0)] * 4)


def spread_of(by_seed: Sequence[Reading], reached: Sequence[bool] | None = None) -> Spread:
    """Of each seed's readings; `reached` says which the front reaches, all if not given."""
    known = [r for r, seen in zip(by_seed, reached, strict=True) if seen] if reached else by_seed
    step, line = (seeds_mean([r[i] for r in by_seed]) for i in (0, 1))
    known_step, known_line = (seeds_mean([r[i] for r in known]) for i in (0, 1))
    return Spread(step, line, known_step, known_line)


def seeds_mean(values: Sequence[float]) -> Interval:
    """Their mean; values that differ by rounding alone have no spread."""
    same = len(values) > 1 and np.ptp(values) <= ROUNDING * np.max(np.abs(values))
    return mean_interval([values[0]] * len(values) if same else values)
