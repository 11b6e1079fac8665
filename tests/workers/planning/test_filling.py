"""Where a front has its gaps, and which values may fill them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import PchipInterpolator

from service.contract.parameters.axes import Range
from service.contract.study.gaps import Point
from workers.planning.filling import Aim, Place, stretches, wishes
from workers.planning.monotone import Monotone
from workers.planning.scale import Scale


def always(low: float, high: float) -> bool:
    return True


def place(share: float, *points: Point) -> Place:
    return Place(share, dict(enumerate(points)))


def on_the_line(*shares: float) -> list[Place]:
    """A front that is the diagonal, run through evenly."""
    return [place(share, (share, 1 - share)) for share in shares]


def test_the_largest_gap_comes_first_and_is_measured_in_the_unit_square() -> None:
    found = stretches(on_the_line(0.0, 0.5, 0.6, 1.0), always)
    assert [(s.low, s.high) for s in found] == [(0.0, 0.5), (0.6, 1.0), (0.5, 0.6)]
    assert [s.size for s in found] == pytest.approx([2**0.5 * width for width in (0.5, 0.4, 0.1)])


def test_nothing_is_wanted_where_no_gap_is_above_the_tolerance() -> None:
    places = on_the_line(0.0, 0.5, 1.0)
    assert wishes(places, 10, 0.72, always) == []
    assert len(wishes(places, 10, 0.70, always)) == 2


def test_on_a_line_that_is_run_through_evenly_a_gap_is_divided_evenly() -> None:
    """Of three values the first goes into the middle; of two it takes a third, so that the other can take the rest."""
    (half,) = wishes(on_the_line(0.0, 1.0), 1, 0.1, always)
    (third,) = wishes(on_the_line(0.0, 1.0), 2, 0.1, always)
    assert (half.share, third.share) == pytest.approx((1 / 2, 1 / 3))


def test_a_round_takes_no_place_that_a_larger_gap_needs_later() -> None:
    """With two places left both belong to the gap of 0.8, which is 0.27 with them: the gap of 0.2 gets none."""
    assert [(w.low, w.high) for w in wishes(on_the_line(0.0, 0.8, 1.0), 2, 0.01, always)] == [(0.0, 0.8)]


def test_the_aim_follows_the_curve_where_the_range_is_run_through_unevenly() -> None:
    """Nearly all of the way lies near the upper end, and the middle of the gap is sought there."""
    places = [place(t, (t**8, 1 - t**8)) for t in (0.0, 0.5, 0.75, 1.0)]
    (wish,) = wishes(places, 1, 0.01, always)
    assert (wish.low, wish.high) == (0.75, 1.0) and wish.share > 0.875
    assert abs(wish.share**8 - 0.55) < abs(0.875**8 - 0.55), "nearer to the middle than halving"


def test_a_gap_within_the_interval_over_seeds_is_left_alone() -> None:
    noisy = [place(0.0, (0.0, 1.0), (0.9, 0.2), (0.5, 0.6)), place(1.0, (0.8, 0.3), (0.1, 1.1), (0.7, 0.2))]
    clear = [place(0.0, (0.0, 1.0), (0.1, 1.1), (0.0, 0.9)), place(1.0, (0.8, 0.3), (0.9, 0.2), (0.8, 0.1))]
    assert stretches(noisy, always) == [] and len(stretches(clear, always)) == 1
    two_seeds = [Place(each.share, {seed: each.reached[seed] for seed in (0, 1)}) for each in noisy]
    assert len(stretches(two_seeds, always)) == 1, "two seeds have no interval worth the name"


@pytest.mark.parametrize("noisy", [0, 1])
def test_a_gap_that_is_clear_in_one_objective_alone_is_still_one(noisy: int) -> None:
    swings, steady = [(0.0, 0.8), (0.9, 0.1), (0.5, 0.7)], [(1.0, 0.3), (1.1, 0.2), (0.9, 0.1)]
    by_objective = [swings, steady] if noisy == 0 else [steady, swings]
    places = [place(float(end), *((x[end], y[end]) for x, y in zip(*by_objective, strict=True))) for end in (0, 1)]
    assert len(stretches(places, always)) == 1


def test_seeds_that_shift_the_whole_front_alike_are_no_noise() -> None:
    shifted = [place(t, *((t + 5 * s, 1 - t - 7 * s) for s in range(4))) for t in (0.0, 1.0)]
    assert len(stretches(shifted, always)) == 1


def test_beside_a_place_where_nothing_was_reached_the_front_may_go_on() -> None:
    places = [*on_the_line(0.0, 0.1, 0.2), place(0.5), place(1.0)]
    assert (0.2, 0.5) in [(s.low, s.high) for s in stretches(places, always)]
    assert (0.5, 1.0) not in [(s.low, s.high) for s in stretches(places, always)], (
        "not where neither end has reached any"
    )


def test_what_lies_beyond_the_reference_point_is_not_expected() -> None:
    """The second objective worsens towards 0, where the reference point has it at 1.05."""
    places = [place(0.0), *on_the_line(0.5, 0.6, 0.7)]

    def edge(worst: Point) -> float:
        return next(s.size for s in stretches(places, always, worst) if s.low == 0.0)

    assert edge((1.0, 0.52)) < 0.2 < edge((1.0, 10.0))


def test_where_nothing_was_reached_at_all_the_widest_interval_comes_first() -> None:
    assert [(s.low, s.high) for s in stretches([place(0.0), place(0.4), place(1.0)], always)] == [
        (0.4, 1.0),
        (0.0, 0.4),
    ]


def test_where_a_middle_value_beats_both_ends_its_neighbourhood_is_looked_at() -> None:
    """A front of one point has no gap, and may still go on to either side."""
    places = [place(0.0, (1.0, 2.0)), place(0.5, (0.0, 0.0)), place(1.0, (2.0, 1.0))]
    assert {(s.low, s.high) for s in stretches(places, always)} == {(0.0, 0.5), (0.5, 1.0)}


def test_of_several_intervals_between_two_neighbours_the_one_is_taken_that_runs_furthest() -> None:
    """The dominated place lies near the first of them: what is missing lies beyond it."""
    places = [place(0.0, (0.0, 1.0)), place(0.3, (0.1, 1.1)), place(1.0, (1.0, 0.0))]
    assert (stretches(places, always)[0].low, stretches(places, always)[0].high) == (0.3, 1.0)


FLAT_THEN_STEEP = [place(0.0, (0.0, 1.0)), place(0.5, (0.7, 0.9)), place(1.0, (1.0, 0.0))]


def test_aimed_at_hypervolume_the_rectangle_between_neighbours_counts_and_not_their_distance() -> None:
    """0.7 · 0.1 is less than 0.3 · 0.9; each counts by the side of a square of its size."""
    found = stretches(FLAT_THEN_STEEP, always, aim="hypervolume")
    assert [(s.low, s.high) for s in found] == [(0.5, 1.0), (0.0, 0.5)]
    assert [s.worth for s in found] == pytest.approx([0.27**0.5, 0.07**0.5])
    assert [s.size for s in found] == pytest.approx([0.9**0.5, 0.5**0.5]), "the tolerance is about gaps all the same"
    assert [s.worth for s in stretches(FLAT_THEN_STEEP, always)] == pytest.approx([0.9**0.5, 0.5**0.5])


def test_aimed_at_hypervolume_nothing_is_sought_beyond_the_reference_point() -> None:
    """The lower half of the line is worse than the reference point in its second objective."""
    places, worst = on_the_line(0.0, 0.4, 0.6, 1.0), (1.0, 0.5)
    assert {(w.low, w.high) for w in wishes(places, 9, 0.01, always, worst, "hypervolume")} == {(0.4, 0.6), (0.6, 1.0)}
    assert {(w.low, w.high) for w in wishes(places, 9, 0.01, always, worst)} == {(0.0, 0.4), (0.4, 0.6), (0.6, 1.0)}


def test_aimed_at_hypervolume_a_front_that_lies_beyond_it_so_far_is_followed_to_it() -> None:
    """No rectangle is within it yet, and the front may go on towards it where nothing was reached."""
    places = [*on_the_line(0.0, 0.5), place(1.0)]
    (wish,) = wishes(places, 3, 0.01, always, (1.5, 0.2), "hypervolume")
    assert (wish.low, wish.high) == (0.5, 1.0)


def test_a_jump_is_not_sought_for_ever() -> None:
    """Between values that leave no room there is nothing; equal points beside the jump are no gap either."""
    places = [place(t, (0.0, 1.0) if t < 0.5 else (1.0, 0.0)) for t in (0.0, 0.3, 0.4999, 0.5001, 1.0)]
    assert wishes(places, 10, 0.1, lambda low, high: high - low > 1e-3) == []


shares = st.lists(st.integers(1, 99), min_size=1, max_size=8, unique=True).map(
    lambda inner: [0.0, *(i / 100 for i in sorted(inner)), 1.0]
)
reached = st.none() | st.tuples(st.floats(-1, 1), st.floats(-1, 1))


@given(shares, st.data(), st.integers(1, 30), st.floats(0.01, 1), st.sampled_from(["gap", "hypervolume"]))
def test_every_wish_lies_between_neighbouring_places(
    shares: list[float], data: st.DataObject, left: int, tolerance: float, aim: Aim
) -> None:
    points = [data.draw(reached) for _ in shares]
    places = [place(share, *([] if point is None else [point])) for share, point in zip(shares, points, strict=True)]
    found = wishes(places, left, tolerance, always, (0.5, 0.5), aim)
    assert len(found) <= left
    for low, high, share in found:
        assert (low, high) in set(pairwise(shares)) and low <= share <= high


@given(st.lists(st.tuples(st.floats(0.01, 1), st.integers(0, 9).map(float)), min_size=3, max_size=9), st.floats(0, 1))
def test_the_interpolation_is_that_of_another_library_between_inner_knots(
    steps: list[tuple[float, float]], part: float
) -> None:
    """At the ends slopes are chosen otherwise there: outer pieces differ."""
    x, y = [0.0], [0.0]
    for dx, dy in steps:
        x.append(x[-1] + dx)
        y.append(y[-1] + dy)
    at = x[1] + part * (x[-2] - x[1])
    assert Monotone(x, y)(at) == pytest.approx(float(PchipInterpolator(x, y)(at)), abs=1e-9)


@given(
    st.lists(st.tuples(st.floats(0.01, 1), st.floats(0, 1)), min_size=1, max_size=9), st.floats(0, 1), st.floats(0, 1)
)
def test_the_interpolation_never_falls(steps: list[tuple[float, float]], a: float, b: float) -> None:
    x, y = [0.0], [0.0]
    for dx, dy in steps:
        x.append(x[-1] + dx)
        y.append(y[-1] + dy)
    low, high = (Monotone(x, y)(min(a, b) * x[-1]), Monotone(x, y)(max(a, b) * x[-1]))
    assert low <= high + 1e-9


def scale(**bounds: object) -> Scale:
    return Scale(Range.model_validate({"range": bounds}))


@given(st.floats(0, 1), st.sampled_from(["linear", "log"]))
def test_a_share_of_a_range_is_its_value_and_back(share: float, kind: str) -> None:
    own = scale(**{"from": 1e-4, "to": 10.0, "scale": kind})
    assert 1e-4 <= own.value(share) <= 10
    assert own.share(own.value(share)) == pytest.approx(share, abs=1e-5)
    assert (own.value(0.0), own.value(1.0)) == (1e-4, 10.0)


def test_between_whole_numbers_there_is_room_for_whole_numbers_alone() -> None:
    own = scale(**{"from": 2.0, "to": 9.0, "integer": True})
    assert not own.has_room(own.share(4), own.share(5)) and own.has_room(own.share(4), own.share(6))
    assert own.between(own.share(4), own.share(6), own.share(4)) == 5
    assert isinstance(own.between(0.0, 1.0, 0.5), int)
