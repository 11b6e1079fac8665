"""What is told over seeds of two readings of a front, by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analysis import Interval
from service.analysis.readings import Reading
from service.analysis.spread import NOTHING, Spread, spread_of

values = st.floats(-1, 1)
readings = st.lists(st.tuples(values, values).map(lambda two: Reading(max(two), min(two))), min_size=3, max_size=9)


def test_above_the_line_the_line_is_told_and_below_the_step_the_step() -> None:
    above = spread_of([Reading(0.4, 0.1), Reading(0.5, 0.2), Reading(0.6, 0.3)])
    below = spread_of([Reading(-0.1, -0.4), Reading(-0.2, -0.5), Reading(-0.3, -0.6)])
    assert above.decides == "line" and above.told == above.line and above.line.mean == pytest.approx(0.2)
    assert below.decides == "step" and below.told == below.step and below.step.mean == pytest.approx(-0.2)


def test_noise_about_the_line_cancels_though_the_step_is_far() -> None:
    """A seed above the line and one as far below it: to count the first alone would call the arm better."""
    told = spread_of([Reading(0.5, 0.1), Reading(0.5, -0.1), Reading(0.5, 0.0)]).told
    assert told.mean == 0.0 and (told.low, told.high) == (0.0, 0.1)


def test_between_the_two_the_interval_reaches_as_far_as_either_may_be_off() -> None:
    step, line = Interval(0.02, 0.05, 5, -0.03, 0.08), Interval(-0.01, 0.02, 5, -0.03, 0.01)
    spread = Spread(step, line, step, line)
    assert spread.decides is None
    assert spread.told == pytest.approx((0.0, 0.03, 5, -0.03, 0.01)), "the step may lie 0.03 below, the line 0.01 above"
    far = Interval(0.2, 0.05, 5, 0.1, 0.3), Interval(-0.1, 0.02, 5, -0.2, -0.01)
    assert Spread(*far, *far).told == (0.0, 0.0, 5, 0.0, 0.0)


def test_how_far_off_it_may_lie_is_what_the_seeds_say_that_the_front_reaches() -> None:
    """The first seed is past an end: it speaks against either claim, and for neither."""
    by_seed = [Reading(0.3, -0.3), Reading(0.06, 0.05), Reading(0.05, 0.04), Reading(0.05, 0.04)]
    whole, known = spread_of(by_seed), spread_of(by_seed, [False, True, True, True])
    assert whole[:2] == known[:2] and whole.told.mean == known.told.mean == 0.0
    assert known.told.half_width == known.off() > 0.13 / 3


def test_two_seeds_that_the_front_reaches_do_not_say_how_far_off_it_may_lie() -> None:
    few = spread_of([Reading(0.3, -0.3), Reading(0.01, -0.01), Reading(0.0, 0.0)], [False, True, True])
    assert few.told[:3] == (0.0, None, 3) and few.off() == math.inf


def test_two_seeds_have_no_interval_and_no_seed_has_nothing() -> None:
    assert spread_of([Reading(0.3, -0.1), Reading(0.2, -0.2)]).told[:3] == (0.0, None, 2)
    assert spread_of([]) == NOTHING and NOTHING.decides is None and NOTHING.told == Interval(None, None, 0)


@given(readings)
def test_within_a_tolerance_the_line_lies_no_more_above_nor_the_step_below(by_seed: list[Reading]) -> None:
    spread = spread_of(by_seed)
    step, line = ([each.mean or 0.0, each.half_width or 0.0] for each in (spread.step, spread.line))
    assert spread.off() == pytest.approx(max(0.0, line[0] + line[1], step[1] - step[0]))
    assert spread.told.mean == pytest.approx(max(line[0], 0.0) + min(step[0], 0.0))
