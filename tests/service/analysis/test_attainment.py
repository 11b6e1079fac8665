"""Attainment over seeds and the difference of two arms: worked examples, then properties, then what the figures say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analysis import Axis, Point
from service.analysis.attainment import Rectangle, difference, staircase, surfaces, worst_corner
from service.contract.wire.errors import InvalidInput
from service.figures import figures_of
from service.figures.attainment import attainment_data, draw_attainment, seeds_words
from service.figures.attainment import figure as attainment_figure
from service.figures.attainment_difference import default_arms, difference_data, draw_difference, tint
from service.figures.figure import Asked
from tests.service.studies import ALL_BETAS, MANUAL, MIB, bits, bottleneck_of, curve, play, play_curves

AXES = (Axis("i_xz_bits", "minimize", 32.0), Axis("i_zy_bits", "maximize", 0.0))
Places = list[tuple[float, float]]

places = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=5)
runs = st.integers(1, 4).flatmap(lambda n: st.tuples(*(st.lists(places, min_size=n, max_size=n) for _ in range(2))))


def sets(*by_seed: Places) -> dict[int, list[Point]]:
    return {seed: [Point("t", "a", seed, place) for place in own] for seed, own in enumerate(by_seed)}


def attaining(own: dict[int, list[Point]], x: float, y: float) -> int:
    return sum(any(p.values[0] <= x and p.values[1] >= y for p in points) for points in own.values())


# Worked by hand: less of x and more of y is better


def test_surfaces_of_three_seeds_are_those_of_one_two_and_all_of_them() -> None:
    own = sets([(1, 1), (3, 3)], [(2, 2)], [(2, 0.5), (1.5, 1.5)])
    assert surfaces(own, AXES) == {
        25: [(1, 1), (1.5, 1.5), (2, 2), (3, 3)],
        50: [(1.5, 1), (2, 1.5), (3, 2)],
        75: [(2, 1), (3, 1.5)],
    }


def test_a_seed_without_a_point_attains_nothing() -> None:
    assert surfaces(sets([(1, 1)], []), AXES) == {25: [(1, 1)], 50: [(1, 1)], 75: []}
    assert surfaces(sets([]), AXES) == {50: []}


def test_one_seed_attains_its_front_and_none_nothing() -> None:
    assert surfaces(sets([(1, 1), (3, 3), (3, 2)]), AXES) == {50: [(1, 1), (3, 3)]}
    assert surfaces({}, AXES) == {}


def test_a_staircase_goes_from_edge_to_edge_of_the_box() -> None:
    assert staircase([(1, 1), (2, 3)], AXES, (5, 0)) == [(1, 0), (1, 1), (2, 1), (2, 3), (5, 3)]
    assert staircase([], AXES, (5, 0)) == []


def test_a_staircase_of_two_maximised_metrics_goes_the_other_way() -> None:
    both = (Axis("accuracy", "maximize", 0.0), Axis("robust_pgd", "maximize", 0.0))
    assert staircase([(0.5, 0.9), (0.8, 0.4)], both, (0.1, 0.2)) == [
        (0.8, 0.2),
        (0.8, 0.4),
        (0.5, 0.4),
        (0.5, 0.9),
        (0.1, 0.9),
    ]


def test_the_difference_is_where_only_one_arm_attains() -> None:
    better, worse = sets([(1, 3)]), sets([(2, 3)])
    assert difference(better, worse, AXES, (4, 1)) == [Rectangle((1, 3), (2, 1), 1)]
    assert difference(worse, better, AXES, (4, 1)) == [Rectangle((1, 3), (2, 1), -1)]
    assert difference(better, better, AXES, (4, 1)) == []


def test_the_difference_counts_seeds() -> None:
    first, second = sets([(1, 2)], [(1, 2)]), sets([(1, 1)], [(3, 2)])
    # From y 2 down to 1 none of the second attains left of x 3, where one does; from 1 down one does from x 1 on.
    assert difference(first, second, AXES, (4, 0)) == [
        Rectangle((1, 2), (3, 1), 2),
        Rectangle((1, 1), (3, 0), 1),
        Rectangle((3, 2), (4, 1), 1),
    ]


def test_an_area_that_goes_on_is_one_rectangle() -> None:
    first, second = sets([(1, 3)], [(1, 2)]), sets([(1, 1)], [(2, 1.5)])
    assert difference(first, second, AXES, (5, 0)) == [
        Rectangle((1, 2), (2, 1), 2),
        Rectangle((1, 1), (2, 0), 1),
        Rectangle((1, 3), (5, 2), 1),  # the second's step at x 2 is below it
        Rectangle((2, 2), (5, 1.5), 2),
        Rectangle((2, 1.5), (5, 1), 1),
    ]


# Properties


@given(st.lists(places, min_size=2, max_size=5))
def test_a_surface_is_the_edge_of_what_its_share_of_seeds_attains(by_seed: list[Places]) -> None:
    own = sets(*by_seed)
    fronts = surfaces(own, AXES)
    assert bool(fronts[25]) == (sum(map(bool, by_seed)) >= len(own) / 4)
    for level, front in fronts.items():
        for x, y in front:
            assert attaining(own, x, y) >= level / 100 * len(own)
            assert attaining(own, x - 0.5, y) < level / 100 * len(own)
            assert attaining(own, x, y + 0.5) < level / 100 * len(own)


@given(runs, st.floats(0, 6), st.floats(0, 6))
def test_the_difference_at_a_place_is_the_difference_of_seeds(
    two: tuple[list[Places], ...], x: float, y: float
) -> None:
    first, second = (sets(*each) for each in two)
    points = [point for own in (first, second) for group in own.values() for point in group]
    if not points:
        return
    worst = worst_corner(points, AXES)
    if x > worst[0] or y < worst[1]:
        return
    found = [
        rectangle.seeds
        for rectangle in difference(first, second, AXES, worst)
        if rectangle.corner[0] <= x < rectangle.opposite[0] and rectangle.opposite[1] < y <= rectangle.corner[1]
    ]
    on_edge = x == worst[0] or y == worst[1]
    assert on_edge or found == [n for n in [attaining(first, x, y) - attaining(second, x, y)] if n]


# The figures


def test_attainment_is_drawn_per_arm_within_the_box_of_all_trials() -> None:
    view = bottleneck_of(MANUAL, MIB)
    low_0, low_1, *_, mib_0, mib_1 = view.trials
    for trial, place in ((low_0, (1, 1)), (low_1, (2, 2)), (mib_0, (4, 3)), (mib_1, (4, 3))):
        play(view, trial, bits(place))
    manual, mib = attainment_data(view, None, None).arms
    assert (manual.seeds, manual.corners) == (2, [(1, 1), (2, 2)])
    # The worst of both arms is (4, 1), of spans 3 and 2: the box ends 5 % of them beyond it, at (4.15, 0.9).
    assert manual.quarter == [(1, 0.9), (1, 1), (2, 1), (2, 2), (4.15, 2)]
    assert manual.three_quarters == [(2, 0.9), (2, 1), (4.15, 1)]
    assert mib.quarter == mib.median == mib.three_quarters == [(4, 0.9), (4, 3), (4.15, 3)]


def test_a_curve_attains_with_each_of_its_points_and_is_one_seed() -> None:
    """Worked by hand: of three curves at least one, two and all attain these; (2.5, 1) is behind (2, 2) of its seed."""
    view = bottleneck_of(ALL_BETAS, seeds=[0, 1, 2])
    curves: list[Places] = [[(1, 1), (3, 3)], [(2.5, 1), (2, 2)], [(2, 0.5), (1.5, 1.5)]]
    for trial, own in zip(view.trials, curves, strict=True):
        play_curves(view, trial, curve(*((0.1**i, x, y) for i, (x, y) in enumerate(own))))
    (arm,) = attainment_data(view, None, None).arms
    assert (arm.seeds, arm.corners) == (3, [(1.5, 1), (2, 1.5), (3, 2)])
    # The worst of all points is (3, 0.5), of spans 2 and 2.5: the box ends at (3.1, 0.375).
    assert arm.quarter == staircase([(1, 1), (1.5, 1.5), (2, 2), (3, 3)], AXES, (3.1, 0.375))
    assert arm.median == staircase([(1.5, 1), (2, 1.5), (3, 2)], AXES, (3.1, 0.375))
    assert arm.three_quarters == [(2, 0.375), (2, 1), (3, 1), (3, 1.5), (3.1, 1.5)]


def test_what_only_one_place_of_a_curve_attains_is_a_difference() -> None:
    view = bottleneck_of(MIB, ALL_BETAS, seeds=[0])
    single, many = view.trials
    play(view, single, bits((2, 2)))
    play_curves(view, many, curve((0.1, 2, 2), (0.01, 4, 3)))
    # The worst is (4, 2), of spans 2 and 1: the box ends at (4.1, 1.95), and 3 bits are attained from a rate of 4 on.
    assert difference_data(view, None, None, ("all β", "MIB")).rectangles == [Rectangle((4, 3), (4.1, 2), 1)]


def test_a_collapsed_seed_counts_and_one_that_still_trains_does_not() -> None:
    view = bottleneck_of(MIB, seeds=[0, 1, 2])
    good, collapsed, _ = view.trials
    play(view, good, bits((5, 2)))
    play(view, collapsed, bits((0.01, 0)))
    (arm,) = attainment_data(view, None, None).arms
    assert (arm.seeds, arm.corners, arm.three_quarters) == (2, [(5, 2)], [])


def test_arms_with_one_seed_have_a_line_and_no_band_and_the_subtitle_says_so() -> None:
    view = bottleneck_of(MANUAL, MIB)
    for trial, place in zip([*view.trials][::2], ((1, 1), (2, 2), (3, 3), (4, 4)), strict=True):
        play(view, trial, bits(place))
    data = attainment_data(view, None, None)
    assert seeds_words(data.arms) == "one seed: its front, no band"
    assert all(not trace["x"] for trace in draw_attainment(data, "r")["data"] if trace.get("fill"))
    play(view, [*view.trials][1], bits((2, 1)))
    assert seeds_words(attainment_data(view, None, None).arms) == (
        "2 seeds: line attained by at least half, band 25 to 75 % of them · one seed, no band: MIB"
    )


def test_attainment_says_what_half_of_the_seeds_reach() -> None:
    view = bottleneck_of(MANUAL, seeds=[0])
    for trial, place in zip(view.trials, ((1, 1), (2, 3), (3, 2)), strict=True):
        play(view, trial, bits(place))
    meta = attainment_figure(Asked(view))["layout"]["meta"]
    assert meta["summary"] == "Best I(Z;Y) [bits] that half of the seeds attain: manual β 3.00."
    turned = attainment_figure(Asked(view, "i_zy_bits", "i_xz_bits"))["layout"]["meta"]
    assert turned["summary"] == "Best I(X;Z) [bits] that half of the seeds attain: manual β 1.00."


def test_the_difference_is_of_the_grid_and_the_first_automatic_arm() -> None:
    automatic = {"name": "arml", "weighting": {"name": "arml"}}
    assert default_arms(bottleneck_of(MIB, automatic, MANUAL).study) == ("manual β", "MIB")
    assert default_arms(bottleneck_of(MIB, automatic).study) == ("MIB", "arml")
    by_hand = {"name": "by hand", "weighting": {"name": "uniform"}}
    assert default_arms(bottleneck_of(MANUAL, by_hand, MIB).study) == ("manual β", "MIB")
    assert default_arms(bottleneck_of(by_hand, MANUAL, MIB).study) == ("manual β", "MIB"), "more to choose from"
    assert "attainment-difference" not in figures_of(bottleneck_of(MIB))


def test_the_difference_is_to_the_baseline_that_the_study_names() -> None:
    by_hand = {"name": "by hand", "weighting": {"name": "uniform"}}
    assert default_arms(bottleneck_of(MANUAL, by_hand, MIB, baseline="by hand").study) == ("by hand", "MIB")
    assert default_arms(bottleneck_of(MANUAL, MIB, baseline="MIB").study) == ("MIB", "manual β")


def test_only_seeds_that_both_arms_have_are_compared() -> None:
    view = bottleneck_of(MANUAL, MIB)
    low_0, low_1, *_, mib_0, _mib_1 = view.trials
    for trial, place in ((low_0, (1, 2)), (low_1, (9, 9)), (mib_0, (2, 2))):
        play(view, trial, bits(place))
    data = difference_data(view, None, None, ())
    assert (data.arms, data.seeds, data.places) == (("manual β", "MIB"), [0], (0, 1))
    # Both reach 2 bits, so the box ends 5 % of that below; (9, 9) is of a seed that MIB does not have.
    assert data.rectangles == [Rectangle((1, 2), (2, 1.9), 1)]
    turned = difference_data(view, None, None, ("MIB",))
    assert (turned.arms, turned.places) == (("MIB", "manual β"), (1, 0))
    assert turned.rectangles == [Rectangle((1, 2), (2, 1.9), -1)]


def test_what_only_the_extreme_point_attains_is_a_difference() -> None:
    grid = {"name": "fixed", "beta": {"grid": [0.1, 1.0]}}
    view = bottleneck_of({**MANUAL, "weighting": grid}, MIB, seeds=[0, 1, 2])
    for trial, place in zip(view.trials, [(1, 1)] * 3 + [(2, 3)] * 3 + [(1, 1)] * 3, strict=True):
        play(view, trial, bits(place))
    data = difference_data(view, None, None, ())
    # (2, 3) is the worst of x and the best of y: what it adds lies right of it, down to the 1 bit that both reach.
    assert data.rectangles == [Rectangle((2, 3), (2.05, 1), 3)]
    drawn = draw_difference(data, "r")
    areas = [(t["name"], t["x"], t["y"]) for t in drawn["data"] if t.get("fill")]
    assert areas == [("manual β +3 of 3", [2, 2.05, 2.05, 2, None], [3, 3, 1, 1, None])]
    assert drawn["layout"]["meta"]["summary"] == (
        "manual β attains some trade-offs in up to 3 more of 3 seeds; MIB attains none in more seeds."
    )


def test_arms_without_a_common_seed_say_so() -> None:
    view = bottleneck_of(MANUAL, MIB)
    trials = [*view.trials]
    play(view, trials[0], bits((1, 2)))
    play(view, trials[-1], bits((1, 2)))
    drawn = draw_difference(difference_data(view, None, None, ()), "r")
    assert drawn["layout"]["meta"]["empty"] == "manual β and MIB have no seed in common."


def test_an_area_names_the_arm_and_its_seeds() -> None:
    view = bottleneck_of({**MANUAL, "weighting": {"name": "fixed", "beta": 0.1}}, MIB)
    for trial, place in zip(view.trials, ((1, 3), (1, 3), (2, 3), (2, 1)), strict=True):
        play(view, trial, bits(place))
    drawn = draw_difference(difference_data(view, None, None, ()), "r")
    areas = [(t["name"], t["x"], t["y"]) for t in drawn["data"] if t.get("fill")]
    # The box ends at (2.05, 0.9). Right of x 2 one seed of MIB attains 3 bits too, and both attain 1.
    assert areas == [
        ("manual β +2 of 2", [1, 2, 2, 1, None], [3, 3, 0.9, 0.9, None]),
        ("manual β +1 of 2", [2, 2.05, 2.05, 2, None], [3, 3, 1, 1, None]),
    ]
    assert drawn["layout"]["meta"]["summary"] == (
        "manual β attains some trade-offs in up to 2 more of 2 seeds; MIB attains none in more seeds."
    )


def test_the_hue_of_an_area_is_the_arms_and_its_strength_the_share_of_seeds() -> None:
    assert tint("#0072B2", 1.0) == "rgba(0,114,178,0.8)"
    assert tint("#0072B2", 0.5) == "rgba(0,114,178,0.475)"


def test_an_unknown_arm_is_refused() -> None:
    with pytest.raises(InvalidInput, match="arm must be one of manual β, MIB, got 'VIB'"):
        difference_data(bottleneck_of(), None, None, ("VIB",))
