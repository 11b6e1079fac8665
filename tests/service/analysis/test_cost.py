"""Hypervolume against cost, by hand: what was spent, in which order, until when."""

from __future__ import annotations

import math

import pytest

from service.analysis import Axis, Point, cost_curves
from service.analysis.cost import ORDERS, Spent, by_seed, cost_curve, cost_to_reach, orders

AXES = (Axis("i_xz_bits", "minimize", 10.0), Axis("i_zy_bits", "maximize", 0.0))


def spent(seed: int, seconds: float, volume: float | None) -> Spent:
    """A trial of its own hypervolume: points of one rate, so that the largest is that of all."""
    return Spent(seed, seconds, [] if volume is None else [Point("t", "a", seed, (9.0, volume))])


def test_trials_are_kept_in_the_order_in_which_they_ended() -> None:
    trials = [spent(1, 1.0, 1.0), spent(0, 2.0, 2.0), spent(1, 3.0, 3.0)]
    assert by_seed(trials) == {1: [trials[0], trials[2]], 0: [trials[1]]}


def test_a_search_has_one_order_and_a_grid_has_many_the_same_each_time() -> None:
    assert [list(way) for way in orders(4, ordered=True)] == [[0, 1, 2, 3]]
    assert [list(way) for way in orders(1, ordered=False)] == [[0]]
    ways = [tuple(way) for way in orders(6, ordered=False)]
    assert len(ways) == 12 and len(set(ways)) == 12, "they differ"
    assert all(sorted(way) == list(range(6)) for way in ways)
    assert ways == [tuple(way) for way in orders(6, ordered=False)]


def test_a_search_is_drawn_in_its_order() -> None:
    trials = [spent(0, 1.0, 1.0), spent(0, 2.0, 5.0), spent(0, 4.0, 3.0), spent(0, 8.0, None)]
    curve = cost_curve(trials, AXES, ordered=True)
    assert curve.trials == [1, 2, 3, 4]
    assert curve.seconds == [1.0, 3.0, 7.0, 15.0]
    assert curve.mean == pytest.approx([1.0, 5.0, 5.0, 5.0])


def test_a_grid_is_the_mean_over_orders() -> None:
    trials = [spent(0, 1.0, 1.0), spent(0, 2.0, 5.0), spent(0, 4.0, 3.0)]
    ways = orders(3, ordered=False)
    curve = cost_curve(trials, AXES, ordered=False)
    assert len(ways) == 15
    assert curve.mean[0] == pytest.approx(3.0), "of all three, each as often"
    assert curve.seconds[0] == pytest.approx(7 / 3)
    assert curve.mean[1] == pytest.approx(sum(max([1.0, 5.0, 3.0][i] for i in way[:2]) for way in ways) / 15)
    assert [curve.mean[-1], curve.seconds[-1]] == pytest.approx([5.0, 7.0])


def test_the_band_is_students_over_seeds_and_not_below_nothing() -> None:
    trials = [spent(seed, 2.0, volume) for seed, volume in enumerate((5.0, 6.0, 7.0))]
    curve = cost_curve(trials, AXES, ordered=True)
    half = 4.30265 / math.sqrt(3)
    assert curve.mean == pytest.approx([6.0]) and curve.seconds == [2.0]
    assert curve.low == [pytest.approx(6 - half, rel=1e-5)] and curve.high == [pytest.approx(6 + half, rel=1e-5)]


def test_many_trials_are_few_places_from_the_first_to_the_last() -> None:
    curve = cost_curve([spent(0, 1.0, 1.0)] * 100, AXES, ordered=True)
    assert (curve.trials[0], curve.trials[-1]) == (1, 100) and len(curve.trials) <= 16
    assert curve.trials == sorted(set(curve.trials)) and curve.seconds == [float(n) for n in curve.trials]


def test_a_curve_ends_where_the_shortest_seed_does() -> None:
    trials = [spent(0, 1.0, 1.0), spent(0, 1.0, 2.0), spent(0, 1.0, 8.0), spent(1, 3.0, 3.0), spent(1, 3.0, 4.0)]
    curve = cost_curve(trials, AXES, ordered=True)
    assert (curve.trials, curve.seconds) == ([1, 2], [2.0, 4.0])
    assert curve.mean == pytest.approx([2.0, 3.0])


def test_without_a_reference_there_is_no_curve() -> None:
    axes = (AXES[0], Axis("i_zy_bits", "maximize", None))
    assert cost_curve([spent(0, 1.0, 1.0)], axes, ordered=True).trials == []


def test_a_search_is_reached_at_the_trial_that_gets_there_and_not_later() -> None:
    trials = [spent(0, 2.0**i, volume) for i, volume in enumerate((1.0, 2.0, None, 4.0, 6.0, 8.0))]
    for target, count in ((0.5, 1), (1.0, 1), (1.5, 2), (2.0, 2), (3.0, 4), (4.0, 4), (5.0, 5), (8.0, 6)):
        reach = cost_to_reach(trials, {0: target}, AXES, ordered=True)
        assert (reach.trials, reach.seconds.mean) == (count, 2.0**count - 1), target
    assert cost_to_reach(trials, {0: 8.1}, AXES, ordered=True)[1:] == (None, 0, 1)


def test_reaching_is_averaged_over_the_seeds_that_get_there() -> None:
    trials = [spent(0, 1.0, 2.0), spent(1, 3.0, 1.0), spent(1, 5.0, 2.0), spent(2, 100.0, 1.0)]
    reach = cost_to_reach(trials, {0: 2.0, 1: 2.0, 2: 2.0}, AXES, ordered=True)
    assert (reach.reached, reach.of, reach.trials) == (2, 3, 1.5)
    assert (reach.seconds.mean, reach.seconds.seeds) == (4.5, 2)


def test_a_grid_is_reached_after_some_of_its_trials_on_average() -> None:
    trials = [spent(0, 1.0, 1.0), spent(0, 1.0, 2.0), spent(0, 1.0, 3.0)]
    ways = [list(way) for way in orders(3, ordered=False)]
    reach = cost_to_reach(trials, {0: 3.0}, AXES, ordered=False)
    assert reach.trials == pytest.approx(sum(way.index(2) + 1 for way in ways) / len(ways)) == 2.0


@pytest.mark.parametrize("count", [2, 5, 12, 16])
def test_which_trial_of_a_grid_ended_first_changes_nothing_about_one_of_them(count: int) -> None:
    """They end together in a stack, in an order that says nothing."""
    trials = [spent(0, float(i + 1), float(i * i)) for i in range(count)]
    one, other = (cost_curve(each, AXES, ordered=False) for each in (trials, trials[::-1]))
    assert one.mean[0] == pytest.approx(other.mean[0]) == pytest.approx(sum(i * i for i in range(count)) / count)
    assert one.seconds[0] == pytest.approx(other.seconds[0])


def test_many_trials_have_as_many_orders_as_there_are_at_most() -> None:
    ways = [tuple(way) for way in orders(480, ordered=False)]
    assert len(set(ways)) == ORDERS and len({way[0] for way in ways}) == ORDERS


def test_only_searched_arms_have_an_order() -> None:
    trials = [spent(0, 1.0, 1.0), spent(0, 2.0, 5.0)]
    found = cost_curves({"grid": trials, "tuned": trials}, AXES, searched=["tuned"])
    assert found["tuned"].mean == pytest.approx([1.0, 5.0])
    assert found["grid"].mean[0] > 1.0
