"""Whether an arm is shown to lie off a front: by its distance, and by what it lacks at a matched value.

A distance has the objectives' ranges for its unit. A grid that reaches far along one objective makes that unit large:
where the front is steep an arm may lack much of the other objective and still be near. What it lacks at the same value
of the first does not depend on how far the grid reaches.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from service.analysis.paired import LEVEL, Paired, paired
from service.analysis.readings import Reading
from service.analysis.spread import Spread


def tested(spread: Spread, by_seed: Mapping[int, Reading], whole: bool) -> Paired:
    """Hypervolume's own test is paired by seed; these readings are differences already, so they are held against 0.

    Better is tested by the line, worse by the step: p = min(1, 2·min(p(line > 0), p(step < 0))). As the line promises
    no more than the step, one of them is beyond 1/2, and this is the two-sided test of the other; between them it is 1.
    """
    decides = spread.decides
    values = {seed: each.step if decides == "step" else each.line for seed, each in by_seed.items()}
    test = paired(values, dict.fromkeys(values, 0.0))
    if decides is None:
        varies = spread.step.half_width or spread.line.half_width
        test = test._replace(p_value=1.0 if varies else None, effect_size=None)
    return test if whole else test._replace(p_value=None, effect_size=None)


class GapTest(NamedTuple):
    """A matched gap against 0."""

    gap: Spread
    tolerance: float  # in the metric's unit
    test: (
        Paired  # no p-value unless the front reaches all of the arm's in every seed: the others were not left by chance
    )
    p_adjusted: float | None  # over all arms and both objectives

    @property
    def contradicts(self) -> bool:
        """That the arm lies on the front: it is off by more than the tolerance, and by more than chance explains.

        Off what is told, or under the lines, as near as a step may be.
        """
        told, line = self.gap.told, self.gap.line
        if told.mean is None or line.mean is None:
            return False
        is_off = abs(told.mean) > max(self.tolerance, told.half_width or 0.0)
        return is_off or -line.mean > max(self.tolerance, line.half_width or 0.0)

    @property
    def shows_below(self) -> bool:
        """By the step only: where a front bulges, what lies on it beats the line between two distant trials."""
        mean = self.gap.told.mean
        return mean is not None and mean < -self.tolerance and self.p_adjusted is not None and self.p_adjusted < LEVEL
