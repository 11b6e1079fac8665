"""Where arms lie against the baseline's front, from trials whose values a test chose."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analysis import Axis, Interval, Point
from service.analysis.amounts import amount_over_seeds, is_log
from service.analysis.arm_places import ArmPlace, ExactFront, arm_places
from service.analysis.indicators import Indicators, indicators, over_seeds
from service.analysis.intervals import share_interval
from service.analysis.place import Place, Placed, by_arm_and_seed, chosen, exact_place_of, place_of, units_of

AXES = (Axis("i_xz_bits", "minimize", 32.0), Axis("i_zy_bits", "maximize", 0.0))
BETA = "weighting.beta"
GRID = ((0.01, 10.0, 3.0), (0.1, 6.0, 2.0), (1.0, 2.0, 1.0))  # β, I(X;Z), I(Z;Y): ranges 8 and 2


def trial(arm: str, seed: int, x: float, y: float, beta: float | None = None) -> Placed:
    point = Point(f"{arm}{seed}{x}{y}", arm, seed, (x, y))
    return Placed(point, point, {} if beta is None else {BETA: beta})


def grid(seeds: Sequence[int] = (0,), scale: float = 1.0) -> list[Placed]:
    return [trial("base", seed, scale * x, y, beta) for seed in seeds for beta, x, y in GRID]


def placed(*own: tuple[int, float, float], seeds: Sequence[int] = (0,), axes: Sequence[Axis] = AXES) -> Place:
    fronts = by_arm_and_seed([*grid(seeds), *(trial("a", *each) for each in own)], axes)
    return place_of(fronts["a"], fronts["base"], axes, units_of(fronts["base"], fronts, axes), [BETA])


def test_gaps_are_in_the_metrics_own_units_and_better_is_above_nothing() -> None:
    """At 4 bits the grid has 1 bit of label by its step, 1.5 by its line; at 1.2 bits 6 and 2.8."""
    matched = placed((0, 4.0, 1.2)).matched
    assert [each.mean for each in matched["i_zy_bits"][:2]] == pytest.approx([0.2, -0.3])
    assert [each.mean for each in matched["i_xz_bits"][:2]] == pytest.approx([2.0, -1.2])
    assert [gap.told.mean for gap in matched.values()] == [0.0, 0.0], "between the two"


def test_the_distance_is_in_units_of_the_ranges() -> None:
    """A bit of label is half the range, 8 bits of rate are all of it."""
    assert placed((0, 10.4, 3.0)).distance.told.mean == pytest.approx(-0.05)
    assert placed((0, 9.0, 1.5)).distance.told.mean == pytest.approx(-0.25)
    assert placed((0, 2.0, 2.5)).distance.told.mean == pytest.approx(0.75 / math.sqrt(2)), "the line is at 45 degrees"


def test_dominated_and_beyond_reach_are_told_apart() -> None:
    below, between, beyond = placed((0, 9.0, 1.5)), placed((0, 4.0, 1.2)), placed((0, 1.0, 0.1))
    assert [(each.dominated, each.beyond) for each in (below, between, beyond)] == [(1.0, 0.0), (0.0, 0.0), (0.0, 1.0)]
    assert beyond.distance.told == Interval(None, None, 0) and beyond.amounts_to == {} and beyond.by_seed == {}
    assert all(gap.told.seeds == 0 for gap in beyond.matched.values())


def test_a_seed_that_the_front_does_not_reach_is_no_proof_of_being_on_it() -> None:
    """In two seeds it is at a point of the grid, in the third past its end by 1/8 and 0.45 of the ranges."""
    own = ((0, 6.0, 2.0), (1, 6.0, 2.0), (2, 1.0, 0.1))
    place = placed(*own, seeds=(0, 1, 2))
    away = math.hypot(1 / 8, 0.45)
    assert place.by_seed[2] == pytest.approx((away, -away)) and place.distance.told.mean == 0.0
    assert place.distance.known_line.seeds == 2 and place.distance.off() == math.inf
    trials = [*grid((0, 1, 2)), *(trial("a", *each) for each in own)]
    arms = arm_places(trials, ["base", "a"], "base", AXES, [BETA], ["base", "a"], None)
    assert arms["a"].standing == "open" and arms["a"].p_adjusted == 1.0


def test_what_is_within_reach_speaks_for_a_front_of_which_some_is_not() -> None:
    place = placed((0, 9.0, 1.5), (0, 1.0, 0.1))
    assert place.by_seed[0].step == -0.25 and place.beyond == 0.5 and place.distance.known_line == place.distance.line


def test_half_way_between_two_powers_is_their_geometric_mean() -> None:
    assert placed((0, 4.0, 1.5)).amounts_to == {BETA: pytest.approx(math.sqrt(0.1))}
    assert placed((0, 6.0, 2.0)).amounts_to == {BETA: pytest.approx(0.1)}


@pytest.mark.parametrize(
    ("values", "log"),
    [([0.01, 0.1, 1.0], True), ([1, 2, 4, 8], True), ([0.1, 0.2, 0.3], False), ([0.001, 0.1], True), ([1, 2], False)],
)
def test_powers_are_known_by_their_even_ratios(values: list[float], log: bool) -> None:
    assert is_log(values) is log
    assert not is_log([0.0, *values]), "nothing has no logarithm"


def test_each_seed_has_its_own_front_and_the_interval_is_over_seeds() -> None:
    place = placed((0, 9.0, 1.5), (1, 9.0, 1.4), (2, 9.0, 1.6), (7, 9.0, 9.0), seeds=(0, 1, 2))
    assert {seed: own.step for seed, own in place.by_seed.items()} == pytest.approx({0: -0.25, 1: -0.3, 2: -0.2})
    assert list(place.distance.told[:3]) == pytest.approx([-0.25, 4.30265 * 0.05 / math.sqrt(3), 3], rel=1e-4)


def test_seeds_that_differ_by_rounding_do_not_differ() -> None:
    trials = [(seed, 9.0, 1.5 + seed * 1e-15) for seed in range(3)]
    assert placed(*trials, seeds=(0, 1, 2)).distance.told.half_width == 0.0


def test_one_seed_has_no_interval() -> None:
    assert placed((0, 9.0, 1.5)).distance.told[:3] == (-0.25, None, 1)


def test_of_an_arm_with_several_trials_its_front_counts() -> None:
    """(9.5, 1) is dominated by its own (9, 1.5), which a search may well have tried first."""
    assert placed((0, 9.0, 1.5), (0, 9.5, 1.0)).by_seed[0].step == -0.25


def test_what_chooses_is_not_what_is_claimed() -> None:
    """By validation the second is better; what is said of it is its test value."""
    lucky = Placed(Point("l", "a", 0, (9.0, 1.0)), Point("l", "a", 0, (9.0, 2.5)), {})
    better = Placed(Point("b", "a", 0, (9.0, 1.9)), Point("b", "a", 0, (9.0, 1.5)), {})
    assert chosen([lucky, better], AXES) == [better]
    fronts = by_arm_and_seed([*grid(), lucky, better], AXES)
    assert place_of(fronts["a"], fronts["base"], AXES, np.array([8.0, 2.0])).by_seed[0].step == -0.25


def test_settings_have_intervals_over_seeds_in_the_logarithm_of_powers() -> None:
    """At the grid's points β 0.01, 0.1 and 0.1: their logarithms spread by 0.577, and Student's t is 4.303."""
    amount = placed((0, 10.0, 3.0), (1, 6.0, 2.0), (2, 6.0, 2.0), seeds=(0, 1, 2)).amounts[BETA]
    half = 4.30265 * math.sqrt(1 / 3) / math.sqrt(3)
    assert (amount.mean, amount.half_width) == pytest.approx((10 ** (-4 / 3), half), rel=1e-4)
    assert (amount.lower, amount.upper) == pytest.approx((10 ** (-4 / 3 - half), 10 ** (-4 / 3 + half)), rel=1e-4)
    assert (amount.seeds, amount.log) == (3, True)
    two = placed((0, 10.0, 3.0), (1, 6.0, 2.0), seeds=(0, 1)).amounts[BETA]
    assert (two.half_width, two.lower, two.upper, two.seeds) == (None, None, None, 2)
    linear = amount_over_seeds([1.0, 2.0, 3.0], log=False)
    half = 4.30265 / math.sqrt(3)
    assert linear[:5] == pytest.approx((2.0, half, 3, 2 - half, 2 + half), rel=1e-4) and not linear.log


def test_only_seeds_that_the_front_reaches_say_which_setting_it_amounts_to() -> None:
    place = placed((0, 6.0, 2.0), (1, 6.0, 2.0), (2, 1.0, 0.1), seeds=(0, 1, 2))
    assert place.amounts[BETA].seeds == 2 and place.seeds == 3


def test_a_dominated_share_has_wilsons_interval_over_seeds() -> None:
    """Dominated in one of three seeds; Wilson's interval of 1 of 3 is known."""
    place = placed((0, 9.0, 1.5), (1, 6.0, 2.0), (2, 6.0, 2.0), seeds=(0, 1, 2))
    assert place.domination == pytest.approx((1 / 3, 0.06149, 0.79234, 3), abs=1e-4)
    assert placed((0, 9.0, 1.5), (1, 6.0, 2.0), seeds=(0, 1)).domination == (0.5, None, None, 2)
    assert share_interval([1.0] * 5) == pytest.approx((1.0, 0.56551, 1.0, 5), abs=1e-4)
    assert share_interval([]) == (None, None, None, 0)
    for n in range(3, 40):
        assert share_interval([0.0] * n).lower == 0.0 and share_interval([1.0] * n).upper == 1.0, "not nearly"


@given(st.lists(st.floats(0, 1), min_size=3, max_size=20))
def test_the_interval_of_a_share_holds_its_mean_and_stays_within_0_and_1(shares: list[float]) -> None:
    mean, lower, upper, seeds = share_interval(shares)
    assert mean is not None and lower is not None and upper is not None and seeds == len(shares)
    assert 0 <= lower <= mean + 1e-12 and mean - 1e-12 <= upper <= 1 and upper - lower < 1


def test_three_objectives_have_no_line_so_only_dominance_is_told() -> None:
    axes = (*AXES, Axis("accuracy", "maximize", 0.0))

    def point(arm: str, *values: float) -> Placed:
        own = Point(f"{arm}{values}", arm, 0, values)
        return Placed(own, own, {})

    fronts = by_arm_and_seed(
        [
            point("base", 2.0, 1.0, 0.5),
            point("base", 4.0, 2.0, 0.6),
            point("a", 5.0, 1.5, 0.6),
            point("a", 1.0, 0.1, 0.1),
        ],
        axes,
    )
    place = place_of(fronts["a"], fronts["base"], axes, units_of(fronts["base"], fronts, axes), [BETA])
    assert (place.dominated, place.distance.told.mean, place.matched) == (0.5, None, {})


@given(st.floats(1e-3, 1e3), st.floats(0.5, 12), st.floats(0.2, 4))
def test_another_unit_of_an_objective_changes_no_distance(scale: float, x: float, y: float) -> None:
    def measured(by: float) -> list[float | None]:
        fronts = by_arm_and_seed([*grid(scale=by), trial("a", 0, by * x, y)], AXES)
        place = place_of(fronts["a"], fronts["base"], AXES, units_of(fronts["base"], fronts, AXES))
        return [place.distance.step.mean, place.distance.line.mean]

    assert measured(scale) == pytest.approx(measured(1.0), abs=1e-9)


def test_the_exact_front_is_told_of_by_its_line() -> None:
    curve = np.array([[0.0, -0.0], [4.0, -2.0], [8.0, -3.0]])
    own = {0: [trial("a", 0, 4.0, 1.5)], 1: [trial("a", 1, 16.0, 2.5)]}
    exact = exact_place_of(own, "exact curve", curve, AXES, np.array([8.0, 2.0]))
    assert exact.label == "exact curve" and exact.matched["i_zy_bits"].mean == pytest.approx(-0.5)
    assert exact.distance.mean is not None and exact.distance.mean < -0.1


def test_indicators_by_hand() -> None:
    """One point against two: ε is what it lacks most, IGD⁺ the mean of what it lacks of each."""
    each = [Indicators(0.1 * seed, 0.01 * seed) for seed in range(3)]
    assert over_seeds(each).epsilon[:3] == pytest.approx((0.1, 4.30265 * 0.1 / math.sqrt(3), 3), rel=1e-4)
    assert over_seeds(each).igd_plus.mean == pytest.approx(0.01) and over_seeds(each[:2]).epsilon.half_width is None
    found = indicators(np.array([[4.0, 1.0]]), np.array([[2.0, 1.0], [6.0, 0.0]]), np.array([4.0, 1.0]))
    assert found == pytest.approx((1.0, (0.5 + 1.0) / 2))


# All arms


def arms_of(
    own: Sequence[float], seeds: Sequence[int] = (0, 1, 2), whole: Sequence[str] = ("base", "a"), at: float = 9.0
) -> ArmPlace:
    """An arm at 9 bits with so much of the label in each seed; the grid has 2 there by its step, 2.75 by its line."""
    trials = [*grid(seeds), *(trial("a", seed, at, y) for seed, y in zip(seeds, own, strict=True))]
    return arm_places(trials, ["base", "a"], "base", AXES, [BETA], whole, None)["a"]


def test_within_the_tolerance_is_on_the_front_even_where_a_test_shows_a_difference() -> None:
    arm = arms_of([1.985, 1.986, 1.984], at=6.1)
    assert arm.p_adjusted is not None and arm.p_adjusted < 0.01
    assert arm.standing == "on"


def test_near_the_step_is_not_on_the_front_where_much_more_is_spent_for_as_much() -> None:
    """3 bits, more than a third of the range, for 0.03 bits less: the distance to the step is 0.015."""
    arm = arms_of([1.97, 1.971, 1.969])
    assert abs(arm.place.distance.told.mean or 1.0) < 0.02
    assert all(gap.contradicts for gap in arm.gaps.values()) and arm.standing == "open"
    assert arm.gaps["i_xz_bits"].tolerance == pytest.approx(0.02 * 8)


def test_between_a_coarse_grids_steps_and_lines_only_what_is_near_the_lines_is_on_the_front() -> None:
    """At 4 bits the step is at 1 and the line at 1.5 bits of label: no front through the grid need pass at 1.2."""
    far, near = arms_of([1.2, 1.21, 1.19], at=4.0), arms_of([1.49, 1.48, 1.485], at=4.0)
    assert far.place.distance.told[:2] == near.place.distance.told[:2] == (0.0, 0.0), "neither is off by a reading"
    assert (far.standing, near.standing) == ("open", "on")
    assert arms_of([1.2], at=4.0, seeds=(0,)).standing == "open", "nor without a test"


def test_where_a_front_is_steep_what_lacks_much_under_the_line_is_not_on_it() -> None:
    """A grid that reaches ten times as far makes 0.2 bit of label under its line a distance within the tolerance."""
    rates = ((0.001, 80.0, 3.01), *GRID)
    trials = [trial("base", seed, x, y, beta) for seed in (0, 1, 2) for beta, x, y in rates]
    trials += [trial("a", seed, 4.0 + 0.01 * seed, 1.3 + 0.01 * seed) for seed in (0, 1, 2)]
    arm = arm_places(trials, ["base", "a"], "base", AXES, [BETA], ["base", "a"], None)["a"]
    assert abs(arm.place.distance.line.mean or 1.0) < 0.02 and arm.gaps["i_zy_bits"].contradicts
    assert arm.place.distance.told.mean == 0.0 and arm.standing == "open"


def test_off_the_front_is_what_a_test_shows() -> None:
    assert arms_of([1.5, 1.51, 1.49]).standing == "below"
    assert arms_of([3.4, 3.41, 3.39]).standing == "above"
    assert arms_of([1.9, 0.9, 1.99]).standing == "open"
    assert arms_of([3.4, 1.54, 2.05]).standing == "open", "near by its mean alone is not on it"


@pytest.mark.parametrize("bits", [1.5, 2.0, 3.4])
def test_what_is_not_tested_is_not_shown(bits: float) -> None:
    """Below, on and above by the mean: one or two seeds, and trials under way, say none of it."""
    for few in ([bits], [bits, bits + 0.01]):
        arm = arms_of(few, seeds=tuple(range(len(few))))
        assert (arm.standing, arm.p_adjusted, arm.place.distance.told.half_width) == ("open", None, None)
    under_way = arms_of([bits, bits + 0.01, bits - 0.01], whole=("a",))
    assert (under_way.standing, under_way.p_adjusted, under_way.test.p_value) == ("open", None, None)


def test_a_distance_that_is_the_same_in_each_seed_is_not_tested_and_not_shown() -> None:
    same = arms_of([1.5, 1.5, 1.5])
    assert (same.standing, same.p_adjusted) == ("open", None)


def test_tests_of_the_distance_are_adjusted_together() -> None:
    own = {"a": (1.5, 1.6, 1.3), "b": (1.4, 1.7, 1.5)}
    trials = [*grid((0, 1, 2)), *(trial(arm, s, 9.0, y) for arm, ys in own.items() for s, y in enumerate(ys))]
    places = arm_places(trials, ["base", "a", "b"], "base", AXES, [BETA], ["base", "a", "b"], None)
    raw = {arm: places[arm].test.p_value or 0.0 for arm in own}
    assert max(places[arm].p_adjusted or 0.0 for arm in own) == pytest.approx(max(*raw.values(), 2 * min(raw.values())))
    assert places["base"].p_adjusted is None and places["base"].standing is None


def test_every_arm_is_held_against_the_exact_front_and_the_baseline_against_no_other() -> None:
    curve = ExactFront("exact curve", np.array([[0.0, 0.0], [10.0, -3.5]]))
    trials = [*grid(), trial("a", 0, 6.0, 1.5)]
    places = arm_places(trials, ["base", "a", "silent"], "base", AXES, [BETA], [], curve)
    assert places["base"].place.distance.told == Interval(None, None, 0)
    gaps = {arm: place.exact.matched["i_zy_bits"].mean for arm, place in places.items() if place.exact}
    assert gaps == {"base": pytest.approx((-0.5 - 0.1 + 0.3) / 3), "a": pytest.approx(-0.6), "silent": None}
    assert places["silent"].indicators.epsilon.mean is None and (places["a"].indicators.epsilon.mean or 0) > 0


def test_an_arm_that_draws_a_front_itself_lands_at_no_setting_of_the_baselines() -> None:
    """But between two: those where the ends of its front lie, each over seeds."""
    points = [trial("a", 0, 6.0, 2.0, 0.3), trial("a", 0, 2.0, 1.0, 0.4)]
    single, drawing = (
        arm_places([*grid(), *own], ["base", "a"], "base", AXES, [BETA], ["base", "a"], None)["a"]
        for own in (points[:1], points)
    )
    assert single.place.amounts_to == {BETA: pytest.approx(0.1)} and not single.draws_front
    assert drawing.place.amounts_to == {} and drawing.draws_front
    assert single.place.between == {} and _ends(drawing.place) == pytest.approx((0.1, 1.0))
    ends = {0: (6.0, 2.0), 1: (6.0, 4.0), 2: (6.0, 6.0)}  # two points in each of three seeds
    several = [trial("a", s, x, x / 3, i) for s, xs in ends.items() for i, x in enumerate(xs)]
    place = arm_places([*grid((0, 1, 2)), *several], ["base", "a"], "base", AXES, [BETA], ["base", "a"], None)["a"]
    least, largest = place.place.between[BETA]
    assert (least.mean, least.lower, least.upper, least.seeds) == pytest.approx((0.1, 0.1, 0.1, 3)), "the same in each"
    assert largest.lower and largest.upper and largest.lower < largest.mean < largest.upper, "powers: unevenly about it"


def _ends(place: Place) -> tuple[float, float]:
    least, largest = place.between[BETA]
    assert least.lower is None and largest.lower is None, "one seed has no interval"
    return least.mean, largest.mean


def test_an_arm_draws_a_front_if_most_seeds_have_one_of_several_points() -> None:
    """Of two settings one dominates the other, or both land at the same place: that is a point."""

    def draws(*seeds: list[tuple[float, float]]) -> bool:
        own = [trial("a", seed, x, y, i) for seed, points in enumerate(seeds) for i, (x, y) in enumerate(points)]
        return arm_places(own, ["a"], None, AXES, [], [], None)["a"].draws_front

    front, dominated, same = [(2.0, 1.0), (6.0, 2.0)], [(2.0, 1.0), (6.0, 0.5)], [(2.0, 1.0), (2.0, 1.0)]
    assert draws(front) and not draws(dominated) and not draws(same)
    assert draws(front, front, dominated) and not draws(front, dominated) and not draws()


def test_without_a_range_there_is_no_unit_and_no_distance() -> None:
    arm = arm_places([trial("base", 0, 2.0, 1.0)], ["base"], "base", AXES, [], [], None)["base"]
    assert {each.mean for each in arm.indicators} == {None} and arm.standing is None


def test_a_baseline_of_single_points_takes_its_units_from_all_arms() -> None:
    trials = [trial("base", 0, 2.0, 1.0), trial("a", 0, 1.0, 2.0), trial("b", 0, 3.0, 3.0)]
    places = arm_places(trials, ["base", "a", "b"], "base", AXES, [], [], None)
    assert (places["a"].standing, places["b"].standing) == ("open", "beyond"), "of one seed nothing is tested"
    assert (places["a"].place.distance.told.mean or 0.0) > 0
