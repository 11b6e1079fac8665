"""The gaps of a front, by hand and by what must hold of any points."""

from __future__ import annotations

from math import hypot

import moocore
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.contract.study.gaps import Gap, Point, gaps, non_dominated, unit_square

numbers = st.integers(-20, 20).map(float)
points = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=30)


def test_gaps_are_distances_along_the_front_in_the_unit_square() -> None:
    """The front runs from (0, 10) over (1, 6) to (4, 0), which is 4 wide and 10 high; (3, 7) is dominated."""
    first, second = gaps([(4.0, 0.0), (0.0, 10.0), (3.0, 7.0), (1.0, 6.0)])
    assert (first.first, first.second, second.first, second.second) == (1, 3, 3, 0)
    assert [first.size, second.size] == pytest.approx([hypot(1 / 4, 4 / 10), hypot(3 / 4, 6 / 10)])


def test_a_front_of_one_point_has_no_gaps_and_no_points_have_none_either() -> None:
    assert gaps([]) == gaps([(1.0, 2.0)]) == gaps([(1.0, 2.0), (1.0, 2.0), (3.0, 3.0)]) == []


def test_where_the_front_is_one_point_the_ranges_are_those_of_all() -> None:
    square = unit_square([(1.0, 1.0), (3.0, 5.0)])
    assert (square.at((1.0, 1.0)), square.at((3.0, 5.0))) == ((0.0, 0.0), (1.0, 1.0))


@given(points)
def test_the_front_is_what_another_library_calls_non_dominated(points: list[Point]) -> None:
    ours = non_dominated(points)
    assert sorted(ours) == np.flatnonzero(moocore.is_nondominated(np.array(points))).tolist()
    assert [points[i][0] for i in ours] == sorted(points[i][0] for i in ours)


@given(points, st.floats(0.1, 10), st.floats(0.1, 10), numbers)
def test_gaps_do_not_depend_on_the_units_of_the_objectives(
    points: list[Point], width: float, height: float, moved: float
) -> None:
    scaled = gaps([(width * x + moved, height * y - moved) for x, y in points])
    assert [gap.size for gap in scaled] == pytest.approx([gap.size for gap in gaps(points)])
    assert [Gap(a, b, 0) for a, b, _ in scaled] == [Gap(a, b, 0) for a, b, _ in gaps(points)]
