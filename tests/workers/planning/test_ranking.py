"""The order of points: no front before a better one, and within a front spread out."""

from __future__ import annotations

from itertools import pairwise

import moocore
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workers.planning.ranking import best_first, ranks_of

POINTS = st.integers(2, 4).flatmap(
    lambda d: st.lists(st.tuples(*[st.integers(0, 6).map(float)] * d), min_size=1, max_size=24)
)


@given(POINTS)
def test_ranks_are_those_of_another_library(points: list[tuple[float, ...]]) -> None:
    values = np.array(points)
    assert ranks_of(values).tolist() == (moocore.pareto_rank(values) + 1 - moocore.pareto_rank(values).min()).tolist()


@given(POINTS)
def test_everyone_has_one_place_and_no_rank_comes_before_a_better_one(points: list[tuple[float, ...]]) -> None:
    order = best_first(points)
    assert sorted(placed.number for placed in order) == list(range(len(points)))
    assert all((a.rank or 0) <= (b.rank or 0) for a, b in pairwise(order))


@given(POINTS, st.integers(-5, 5))
def test_units_and_origins_change_nothing(points: list[tuple[float, ...]], unit: int) -> None:
    moved = [(point[0] * 2.0**unit, *(value + 3 for value in point[1:])) for point in points]
    assert best_first(moved) == best_first(points)


def test_of_one_front_the_ends_come_first_and_then_what_is_farthest_from_them() -> None:
    line = [(float(x), -float(x)) for x in (0, 1, 2, 3, 4, 10)]
    assert [placed.number for placed in best_first(line)][:3] == [0, 5, 4]


def test_what_has_no_values_comes_last() -> None:
    order = best_first([None, (1.0, 1.0), None, (2.0, 2.0)])
    assert [(placed.number, placed.rank) for placed in order] == [(1, 1), (3, 2), (0, None), (2, None)]
    assert [placed.number for placed in best_first([None, None])] == [0, 1] and best_first([]) == []
