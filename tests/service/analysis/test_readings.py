"""A point against a front of a few points, by hand: the step, the line, and what neither says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from service.analysis import readings
from service.analysis.readings import (
    TOLERANCE,
    Array,
    Reading,
    distance,
    front_order,
    gap,
    gap_to_curve,
    is_beyond,
    nearest,
)

FRONT = np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]])  # less is better on both axes
coordinates = st.integers(-20, 40).map(lambda i: i / 20)
points = st.tuples(coordinates, coordinates).map(np.array)
fronts = st.lists(points, min_size=1, max_size=8).map(lambda own: np.array(own)[front_order(np.array(own))])


def known(front: Array, *z: float) -> Reading:
    return distance(front, np.array(z))


def test_between_step_and_line_the_two_disagree() -> None:
    """(0.4, 0.8) is dominated by nothing, and lies above the line x + y = 1 by 0.2/√2."""
    assert known(FRONT, 0.4, 0.8) == pytest.approx((0.1, -0.2 / math.sqrt(2)))


def test_below_the_step_is_worse_and_beyond_the_line_is_better() -> None:
    assert known(FRONT, 0.7, 0.8).step == pytest.approx(-0.2), "the step at 0.5 is nearest"
    assert known(FRONT, 1.3, 0.9).step == pytest.approx(-0.5), "its corner at (1, 0.5) is nearest"
    assert known(FRONT, 0.4, 0.4).line == pytest.approx(0.2 / math.sqrt(2))
    assert known(FRONT, 0.25, 0.75) == pytest.approx((0.25, 0.0)), "on the line"
    assert known(FRONT, 0.5, 0.5) == (0.0, 0.0), "a point of the front"


def test_a_point_far_below_the_end_of_the_front_is_not_near_it() -> None:
    """The step ends at the outermost trial: above (0, 1) there is no front to be near."""
    assert known(FRONT, 0.001, 3.0).step == pytest.approx(-2.0)


def test_past_its_ends_the_front_says_neither_better_nor_worse() -> None:
    """Nothing dominates (2, −0.5), and nothing says that it is better than a front that goes on behind (1, 0)."""
    assert known(FRONT, 2.0, -0.5) == pytest.approx((math.hypot(1.0, 0.5), -math.hypot(1.0, 0.5)))
    assert known(FRONT, -0.5, 2.0) == pytest.approx((math.hypot(0.5, 1.0), -math.hypot(0.5, 1.0)))
    assert known(FRONT, -0.5, 0.9).line > 0, "better than the end of the front on both axes"
    assert known(FRONT, 2.0, 0.0).step == -1.0, "as good on one axis, worse on the other"


def test_what_the_front_does_not_reach_is_farther_from_its_end_than_the_tolerance() -> None:
    near = TOLERANCE / 2
    assert not is_beyond(FRONT, np.array([-near, 1 + near]))
    assert is_beyond(FRONT, np.array([-0.5, 2.0])) and is_beyond(FRONT, np.array([2.0, -0.5]))
    assert not is_beyond(FRONT, np.array([-0.5, 0.9])) and not is_beyond(FRONT, np.array([2.0, 0.0]))


def test_a_front_of_one_point_is_a_corner() -> None:
    one = np.array([[1.0, 1.0]])
    assert known(one, 2.0, 1.0) == (-1.0, -1.0)
    assert known(one, 0.0, 1.0) == (1.0, 1.0)
    assert known(one, 0.0, 2.0) == pytest.approx((math.sqrt(2), -math.sqrt(2))) and is_beyond(one, np.array([0.0, 2.0]))


def test_gaps_at_a_matched_value_by_hand() -> None:
    z = np.array([0.4, 0.8])
    assert gap(FRONT, z, 1) == pytest.approx((0.2, -0.2)), "the step has 1 there, the line 0.6"
    assert gap(FRONT, z, 0) == pytest.approx((0.1, -0.2)), "the step has 0.5 there, the line 0.2"


def test_outside_the_range_of_the_matched_objective_there_is_no_gap() -> None:
    assert gap(FRONT, np.array([1.1, 0.2]), 1) is None
    assert gap(FRONT, np.array([-0.1, 0.2]), 1) is None
    assert gap(FRONT, np.array([1.1, 0.2]), 0) == pytest.approx((-0.1, -0.3)), "the other objective is within its range"


def test_a_curve_that_is_known_everywhere_matches_what_is_worse_than_its_end() -> None:
    assert gap_to_curve(FRONT, np.array([0.25, 0.8]), 1) == pytest.approx(-0.05)
    assert gap_to_curve(FRONT, np.array([7.0, 0.1]), 1) == pytest.approx(-0.1)
    assert gap_to_curve(FRONT, np.array([-0.1, 0.1]), 1) is None


def test_equal_and_dominated_points_leave_the_front_as_it_is() -> None:
    more = np.array([[1.0, 0.0], [0.5, 0.5], [0.5, 0.5], [0.0, 1.0], [0.6, 0.5], [0.9, 0.9], [0.0, 1.5]])
    assert more[front_order(more)].tolist() == FRONT.tolist()


def test_the_nearest_place_is_a_share_of_a_segment() -> None:
    assert nearest(FRONT, np.array([0.25, 0.75])) == (0, 0.5, 0.0)
    assert nearest(FRONT, np.array([2.0, 0.0]))[:2] == (1, 1.0)


@given(fronts)
def test_a_trial_of_the_front_is_at_distance_nothing_from_it(front: Array) -> None:
    assert all(distance(front, point) == pytest.approx((0.0, 0.0), abs=1e-9) for point in front)


@given(fronts, points)
def test_the_line_never_promises_less_than_the_step(front: Array, z: Array) -> None:
    reading = distance(front, z)
    assert reading.line <= reading.step + 1e-12


@given(fronts, points, st.tuples(st.integers(0, 20), st.integers(0, 20)))
def test_moving_towards_better_never_lowers_the_distance(front: Array, z: Array, by: tuple[int, int]) -> None:
    better = z - np.array(by) / 20
    assume(not is_beyond(front, z) and not is_beyond(front, better))  # there it is not known what is better
    before, after = distance(front, z), distance(front, better)
    assert after.step >= before.step - 1e-9 and after.line >= before.line - 1e-9


def test_equal_values_are_pooled_as_those_that_rise_are() -> None:
    """A front falls: what stands still along it is one value."""
    points = np.array([[0.0, 3.0], [1.0, 2.0], [2.0, 2.0], [3.0, 1.0], [4.0, 1.5]])
    assert readings.pooled(points) == [[0], [1, 2], [3, 4]]
