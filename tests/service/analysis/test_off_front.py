"""When a matched gap speaks against lying on a front."""

from __future__ import annotations

import pytest

from service.analysis.intervals import Interval
from service.analysis.off_front import GapTest
from service.analysis.paired import Paired
from service.analysis.spread import Spread


def gap(step: float, line: float, half: float = 0.1) -> GapTest:
    """Means over five seeds of both readings, each with this half-width; one bit is tolerated."""
    below, above = (Interval(mean, half, 5, mean - half, mean + half) for mean in (step, line))
    spread = Spread(below, above, below, above)
    return GapTest(spread, 1.0, Paired(Interval(None, None, 0), spread.told, None, None), None)


@pytest.mark.parametrize(
    ("step", "line", "contradicts"),
    [
        (0.5, -0.5, False),  # between them, and near both
        (0.0, -3.0, True),  # as near as a step may be, far under the line
        (4.0, -0.5, False),  # a step may be far below what is near the line
        (0.0, -0.9, False),  # within what is tolerated
        (-3.0, -4.0, True),  # under both
        (4.0, 3.0, True),  # over both
    ],
)
def test_what_lies_far_under_the_lines_is_not_on_the_front_however_near_a_step_is(
    step: float, line: float, contradicts: bool
) -> None:
    assert gap(step, line).contradicts is contradicts


def test_what_noise_explains_contradicts_nothing() -> None:
    assert gap(0.0, -3.0, half=2.9).contradicts and not gap(0.0, -3.0, half=3.1).contradicts
