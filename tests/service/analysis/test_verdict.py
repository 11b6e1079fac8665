"""What is said about arms, from pairs whose numbers a test chose: every number in a sentence is the right one."""

from __future__ import annotations

from typing import Any

import pytest

from service.analysis import ArmResult, Axis, Interval, Pair, compare, mean_interval, pairs_of, place_words
from service.analysis.amounts import Amount
from service.analysis.arm_places import ArmPlace
from service.analysis.comparison import Drawn
from service.analysis.cost import CostCurve, Reach, Spent
from service.analysis.fronts import Point, Trial
from service.analysis.indicators import over_seeds
from service.analysis.intervals import Share
from service.analysis.off_front import GapTest
from service.analysis.paired import LEVEL, Paired
from service.analysis.place import ExactPlace, Place
from service.analysis.place_words import Rival, standing_words
from service.analysis.spread import Spread
from service.analysis.verdict import pair_words, reach_words, verdict
from service.contract.metrics import Goal

AXES = (Axis("i_xz_bits", "minimize", 10.0), Axis("i_zy_bits", "maximize", 0.0))
FRONT = Drawn(12.0, True)
NO_REACH = Reach(Interval(None, None, 0), None, 0, 0)


def pair(
    difference: float = -1.0,
    p: float | None = 0.01,
    adjusted: float | None = 0.03,
    arm: str = "arm",
    seeds: int = 3,
    whole: bool = True,
    ratio: float | None = 0.9,
    reach: Reach = NO_REACH,
    effect: float | None = -2.0,
    drawn: tuple[Drawn, Drawn] = (FRONT, FRONT),
) -> Pair:
    half = None if seeds == 1 else 0.25
    tested = Paired(Interval(ratio, None if seeds == 1 else 0.02, seeds), Interval(difference, half, seeds), p, effect)
    return Pair(arm, "base", tested, adjusted, reach, whole, drawn)


def result(name: str, mean: float | None = 8.0, by_seed: dict[int, float] | None = None) -> ArmResult:
    own = {0: 8.0, 1: 8.0} if by_seed is None else by_seed
    return ArmResult(name, Interval(mean, 0.5, len(own)), own, mean, 0.5, 1, {}, {}, {})


def results(*names: str) -> list[ArmResult]:
    return [result(name) for name in ("base", *names)]


def test_the_adjusted_p_is_printed_not_the_raw_one() -> None:
    words = pair_words(pair(p=0.011, adjusted=0.033), tests=3)
    assert "p = 0.033" in words and "0.011" not in words
    assert "Holm over 3 arms" in words and "Holm over 2 arms" in pair_words(pair(), tests=2)
    alone = pair_words(pair(p=0.011, adjusted=0.011), tests=1)
    assert "p = 0.011" in alone and "Holm" not in alone


def test_a_difference_is_shown_by_the_adjusted_p_alone() -> None:
    """0.02 would be shown, 0.06 is not."""
    hidden, seen = pair(p=0.02, adjusted=0.06), pair(p=0.02, adjusted=0.049)
    assert (hidden.shown, seen.shown) == (False, True)
    assert pair_words(hidden, 3).startswith("No difference shown between arm and base: ")
    assert pair_words(seen, 3).startswith("arm reaches less: 90 % ± 2 of base’s hypervolume")
    assert pair_words(seen._replace(paired=pair(difference=1.0).paired), 3).startswith("arm reaches more: ")
    assert LEVEL == 0.05 and not pair(adjusted=0.05).shown and not pair(adjusted=None).shown


def test_the_sentence_holds_difference_seeds_p_and_size() -> None:
    words = pair_words(pair(difference=-1.0, seeds=4, effect=-2.0), 1)
    assert "(−1.00 ± 0.25, paired t-test over 4 seeds, p = 0.030, g = −2.00)" in words
    assert "(+1" in pair_words(pair(difference=1.0), 1)
    assert "g =" not in pair_words(pair(effect=None), 1)


def test_one_seed_says_so_and_tests_nothing() -> None:
    words = pair_words(pair(seeds=1, p=None, adjusted=None, effect=None), 1)
    assert words == ("arm reaches 90 % of base’s hypervolume (one seed: no interval, no test)")


def test_arms_that_have_not_ended_are_not_tested() -> None:
    words = pair_words(pair(whole=False, p=None, adjusted=None), 1)
    assert "not all trials have ended: no test" in words and "p =" not in words
    one = pair_words(pair(whole=False, seeds=1, p=None, adjusted=None), 1)
    assert "one seed, not all trials have ended: no test" in one


def test_arms_without_a_common_seed_say_so() -> None:
    words = pair_words(pair(difference=0.0, seeds=0, p=None, adjusted=None, ratio=None), 1)
    assert words == "arm and base have no seed in common yet"


def test_what_the_baseline_spends_is_said_with_its_seeds_and_trials() -> None:
    def words(reached: int, of: int, seconds: float | None, trials: float | None) -> str:
        return reach_words(pair(reach=Reach(Interval(seconds, None, reached), trials, reached, of)))

    assert words(3, 3, 90.0, 7.6) == "base needs 8 trainings per seed for as much."
    assert "3 trainings per seed" in words(3, 3, 90.0, 2.5), "half a trial counts, as everywhere"
    assert words(2, 3, 90.0, 1.2) == "base needs 1 training per seed for as much, in 2 of 3 seeds."
    assert words(0, 3, None, None) == "base does not reach arm’s hypervolume in any seed."
    assert words(0, 0, None, None) == ""


@pytest.mark.parametrize(
    ("goal", "gap", "words"),
    [
        ("maximize", 0.5, "0.50 ± 0.10 bits of I(Z;Y) more than"),
        ("maximize", -0.5, "0.50 ± 0.10 bits of I(Z;Y) less than"),
        ("minimize", 0.5, "0.50 ± 0.10 bits of I(X;Z) less than"),
        ("minimize", -0.5, "0.50 ± 0.10 bits of I(X;Z) more than"),
    ],
)
def test_better_is_less_where_less_is_better(goal: Goal, gap: float, words: str) -> None:
    metric = "i_zy_bits" if goal == "maximize" else "i_xz_bits"
    said = place_words._compared(Axis(metric, goal, None), Interval(gap, 0.1, 3))
    assert said.replace("0.500 ± 0.100", "0.50 ± 0.10") == words


# Is it on the front? Where? What did it cost?


def spread(mean: float | None, half: float | None = 0.01, seeds: int = 3) -> Spread:
    both = Interval(mean, half, seeds)
    return Spread(both, both, both, both)


def place(
    distance: float | None = 0.0,
    half: float | None = 0.01,
    p: float | None = None,
    seeds: int = 3,
    gap: tuple[float, float] | None = (0.1, -0.05),
    whole: bool = True,
    draws: bool = False,
    beyond: float = 0.0,
    amounts: dict[str, float] | None = None,
    exact: float | None = None,
    gaps: dict[str, GapTest] | None = None,
) -> ArmPlace:
    """An arm so far from the front, with these gaps in I(Z;Y) to its step and its line."""
    told = {}
    if gap is not None:
        step, line = (Interval(each, 0.02 if seeds > 2 else None, seeds) for each in gap)
        told = {"i_zy_bits": Spread(step, line, step, line)}
    lands = {key: Amount(value, None, seeds, None, None, True) for key, value in (amounts or {}).items()}
    share = Share(0.0, None, None, seeds)
    own = Place(spread(distance, half, seeds), {}, told, {}, True, share, beyond, lands, {}, seeds)
    matched = {axis.metric: Interval(exact, 0.01, seeds) for axis in AXES}
    known = None if exact is None else ExactPlace("exact curve", Interval(exact, 0.01, seeds), matched)
    test = Paired(Interval(None, None, 0), own.distance.told, p, None)
    return ArmPlace(own, known, over_seeds([]), draws, test, p, whole, gaps or {})


def curve(trials: int, seconds: float) -> CostCurve:
    """A hypervolume that grows with every trial."""
    counts = list(range(1, trials + 1))
    nothing: list[float | None] = [None] * trials
    return CostCurve([seconds * n for n in counts], counts, [n / trials for n in counts], nothing, nothing)


BASE = place(draws=True)


def rival(own: ArmPlace, arm: str = "arm", base: ArmPlace = BASE, lost: int = 0, **by_volume: Any) -> Rival:
    return Rival(pair(arm=arm, **by_volume), own, own, base, curve(1, 2.0), curve(12, 1.0), lost, epochs=(20.0, 240.0))


def said(*rivals: Rival, ended: bool = True) -> str:
    return verdict(results(*(each.pair.arm for each in rivals)), rivals, AXES, ended)


def test_on_the_front_is_said_with_both_readings_then_where_then_the_cost() -> None:
    assert said(rival(place(half=0.0, amounts={"weighting.beta": 0.0123}))) == (
        "arm lies on base’s front: at the same I(X;Z) it has 0.100 ± 0.020 bits of I(Z;Y) more than its steps and "
        "0.0500 ± 0.0200 bits of I(Z;Y) less than the straight lines between its trials (between its steps and "
        "lines in each of 3 seeds). It lands where β ≈ 0.0123 lands. "
        "It took 1 training per seed (20 epochs); base took 12 (240 epochs), and after 1 of them has 8 % of its "
        "hypervolume. Measured: 2.0 s against 12 s, in cohorts that may differ in height."
    )


def test_a_point_is_never_said_to_reach_a_share_of_a_grids_hypervolume() -> None:
    words = said(rival(place(-0.3, p=0.001, gap=(-0.4, -0.6)), ratio=0.49))
    assert "49 %" not in words and "reaches" not in words
    own_front = said(rival(place(-0.3, p=0.001, gap=(-0.4, -0.6), draws=True), ratio=0.49))
    assert (
        "arm lies below base’s front" in own_front and "arm reaches less: 49 % ± 2 of base’s hypervolume" in own_front
    )


def gap_test(mean: float, p: float | None, tolerance: float = 0.05) -> GapTest:
    told = spread(mean, 0.02)
    return GapTest(told, tolerance, Paired(Interval(None, None, 0), told.told, p, None), p)


def test_what_a_gap_shows_is_below_the_front_and_says_so_with_both_numbers() -> None:
    gaps = {"i_xz_bits": gap_test(-0.5, 0.6), "i_zy_bits": gap_test(-0.4, 0.004)}
    near = place(-0.01, 0.003, p=0.2, gap=(-0.4, -0.6), gaps=gaps)
    assert (near.standing, near.below_by) == ("below", "i_zy_bits")
    assert standing_words(near) == "below the front at the same I(X;Z)"
    assert said(rival(near), rival(near, "other")).startswith(
        "arm lies below base’s front: at the same I(X;Z) it has 0.400 ± 0.020 bits of I(Z;Y) less than its steps "
        "(t-test over 3 seeds, Holm over 2 arms and both objectives, p = 0.0040; distance to its steps "
        "−0.0100 ± 0.0030 of the objectives’ ranges)."
    )
    assert said(rival(near), rival(near, "other")).endswith("The other arm, other: below the front.")
    assert "Holm over both objectives, p = 0.0040" in said(rival(near))


def test_the_objective_that_shows_it_is_the_one_that_is_told() -> None:
    gaps = {"i_xz_bits": gap_test(-0.5, 0.01), "i_zy_bits": gap_test(-0.4, 0.06)}
    near = place(-0.01, 0.003, p=0.2, gap=(-0.4, -0.6), gaps=gaps)
    rate = spread(-0.5, 0.02)
    near = near._replace(place=near.place._replace(matched={**near.place.matched, "i_xz_bits": rate}))
    assert near.below_by == "i_xz_bits" and standing_words(near) == "below the front at the same I(Z;Y)"
    assert "at the same I(Z;Y) it has 0.500 ± 0.020 bits of I(X;Z) more than its steps" in said(rival(near))


@pytest.mark.parametrize(
    ("mean", "p", "standing"),
    [
        (-0.4, 0.004, "below"),
        (-0.4, 0.06, "open"),  # its interval excludes 0, so it is not on the front; after adjustment nothing is shown
        (-0.04, 0.004, "on"),  # within the tolerance
        (0.4, 0.004, "open"),  # nothing is above by a gap alone
        (-0.4, None, "open"),
    ],
)
def test_a_gap_speaks_against_the_front_by_its_size_its_interval_and_its_test(
    mean: float, p: float | None, standing: str
) -> None:
    assert place(
        -0.005, 0.003, p=0.2, gaps={"i_xz_bits": gap_test(0.0, 1.0), "i_zy_bits": gap_test(mean, p)}
    ).standing == (standing)


def test_a_gap_whose_interval_holds_nothing_does_not_speak_against_the_front() -> None:
    wide = gap_test(-0.4, 0.3)._replace(gap=spread(-0.4, 0.5))
    assert place(-0.005, 0.003, p=0.2, gaps={"i_xz_bits": gap_test(0.0, 1.0), "i_zy_bits": wide}).standing == "on"


def test_an_arm_that_its_distance_puts_above_is_not_below_by_a_gap() -> None:
    gaps = {"i_xz_bits": gap_test(-0.5, 0.001), "i_zy_bits": gap_test(-0.4, 0.001)}
    assert place(0.01, 0.003, p=0.2, gaps=gaps).standing == "open"
    assert place(0.1, 0.003, p=0.001, gaps=gaps).standing == "above"
    below = place(-0.1, 0.003, p=0.001, gaps=gaps)
    assert (below.standing, below.below_by, standing_words(below)) == ("below", None, "below the front")


def test_below_is_told_by_the_step_and_above_by_the_line_each_with_its_test() -> None:
    assert said(rival(place(-0.12, 0.03, p=0.004, gap=(-0.4, -0.6)))).startswith(
        "arm lies below base’s front: at the same I(X;Z) it has 0.400 ± 0.020 bits of I(Z;Y) less than its steps "
        "(distance to its steps −0.120 ± 0.030 of the objectives’ ranges, t-test over 3 seeds, p = 0.0040)."
    )
    assert said(rival(place(0.12, 0.03, p=0.004, gap=(0.6, 0.4)))).startswith(
        "arm lies above base’s front: at the same I(X;Z) it has 0.400 ± 0.020 bits of I(Z;Y) more than the straight "
        "lines between its trials (distance to its lines 0.120 ± 0.030 of the objectives’ ranges, t-test over 3 seeds, "
        "p = 0.0040)."
    )


def test_between_steps_and_lines_the_interval_is_told_and_nothing_is_tested() -> None:
    own = place(p=1.0)
    step, line = Interval(0.02, 0.05, 3, -0.01, 0.05), Interval(-0.01, 0.02, 3, -0.03, 0.01)
    between = Spread(step, line, step, line)
    words = said(rival(own._replace(place=own.place._replace(distance=between))))
    assert words.startswith("arm is not shown to lie off base’s front: at the same I(X;Z) it has 0.100 ± 0.020 bits")
    assert (
        "(distance 0 ± 0.03 of the objectives’ ranges, between its steps and lines in the mean over 3 seeds)" in words
    )


def test_what_a_test_does_not_show_is_not_claimed() -> None:
    assert said(rival(place(-0.12, 0.3, p=0.3))).startswith("arm is not shown to lie off base’s front: ")
    assert said(rival(place(0.001, 0.3, p=0.9))).startswith("arm is not shown to lie off base’s front: ")


def test_one_seed_or_trials_under_way_have_no_test() -> None:
    assert "(distance to its steps −0.120 of the objectives’ ranges, one seed: no interval, no test)" in said(
        rival(place(-0.12, None, seeds=1))
    )
    two = [said(rival(place(distance, None, seeds=2))) for distance in (-0.12, 0.0)]
    assert "of the objectives’ ranges, 2 seeds: no interval, no test)" in two[0]
    assert "(between its steps and lines in each of 2 seeds: no interval, no test)" in two[1]
    under_way = said(rival(place(-0.12, whole=False)), ended=False)
    assert (
        under_way.startswith("So far: arm is not shown to lie off base’s front")
        and "not all trials have ended: no test" in under_way
    )
    assert "It took" not in under_way, "what the baseline has for the same is not known yet"


def test_what_the_grid_does_not_reach_is_not_judged() -> None:
    words = said(rival(place(None, None, seeds=0, gap=None, beyond=1.0, amounts={"weighting.beta": 0.1})))
    assert "It lands" not in words
    assert words.startswith("arm lies beyond the reach of base’s front, better than all of it in one objective")
    assert "25 % of its trials on a front lie where base does not reach" in said(rival(place(beyond=0.25)))


def test_what_only_some_seeds_know_is_said_of_them() -> None:
    far = place(None, None, beyond=2 / 3)
    assert said(rival(far)).startswith("arm lies for the most part beyond the reach of base’s front")
    assert said(rival(far), rival(place(-0.3, p=0.001), "b")).startswith("b lies below base’s front")
    few = said(rival(place(-0.3, 0.01, p=0.01, seeds=5, beyond=0.2)))
    assert few.startswith("arm lies below base’s front") and "t-test over 5 seeds" in few
    assert "; 20 % of its trials on a front lie where base does not reach)" in few


def test_against_a_single_point_there_is_no_front_to_be_on() -> None:
    point = place(draws=False)
    assert said(rival(place(-0.3, p=0.01), base=point)).startswith("arm is worse than base (distance −0.300 ± 0.010")
    assert said(rival(place(None, None, beyond=1.0), base=point)).startswith(
        "arm and base are different trade-offs: neither is better in both"
    )


def test_seeds_that_were_lost_are_said() -> None:
    assert "; none of its trials counts in 2 seeds)" in said(rival(place(), lost=2))


def test_the_exact_front_is_said_of_both() -> None:
    words = said(
        rival(place(exact=-0.07, amounts={"weighting.beta": 0.1}), base=BASE._replace(exact=place(exact=-0.05).exact))
    )
    assert (
        "It lands where β ≈ 0.1 lands, 0.0700 ± 0.0100 bits of I(Z;Y) below the exact curve "
        "(off it, by more than 2 % of the objectives’ ranges); base lies 0.0500 ± 0.0100 bits of I(Z;Y) below the "
        "exact curve (off it, by more than 2 % of the objectives’ ranges)."
    ) in words


@pytest.mark.parametrize(("mean", "standing"), [(-0.009, "on"), (-0.015, None), (-0.025, None), (-0.035, "off")])
def test_a_place_on_the_exact_front_is_told_by_its_whole_interval(mean: float, standing: str | None) -> None:
    """± 0.01 here; of two seeds there is no interval."""
    known = place(exact=mean).exact
    assert known is not None and known.standing == standing
    assert known._replace(distance=Interval(mean, None, 2)).standing is None
    words = said(rival(place(exact=mean)))
    assert ("(on it, within 2 %" in words, "(off it, by more than 2 %" in words) == (
        standing == "on",
        standing == "off",
    )


@pytest.mark.parametrize(
    ("trainings", "epochs", "words"),
    [
        (1, 10.0, "It took 1 training per seed (10 epochs); base took 12 (240 epochs), and does not finish one in as"),
        (
            12,
            240.0,
            "It took 12 trainings per seed (240 epochs); base took 12 (240 epochs). Measured: 24 s against 12 s.",
        ),
        (3, 60.0, "It took 3 trainings per seed (60 epochs); base took 12 (240 epochs), and after 3 of them has 25 %"),
        (3, 0.0, "It took 3 trainings per seed; base took 12, and after 3 of them has 25 % of its hypervolume. Meas"),
    ],
)
def test_the_cost_is_what_the_baseline_has_for_as_much(trainings: int, epochs: float, words: str) -> None:
    one = rival(place())._replace(cost=curve(trainings, 2.0), epochs=(epochs, 240.0))
    assert words in said(one) and words in said(one._replace(place=place(draws=True))), "an arm of several points too"


def test_what_the_baseline_has_for_as_much_has_its_interval_over_seeds() -> None:
    grid = curve(12, 1.0)
    ends: list[float | None] = [mean + 0.05 for mean in grid.mean]
    one = rival(place())._replace(baseline_cost=grid._replace(low=ends, high=ends), epochs=(60.0, 240.0))
    assert "and after 3 of them has 25 % ± 5 of its hypervolume" in said(one)


def test_seconds_are_told_with_the_cohorts_heights_where_these_may_differ() -> None:
    one = rival(place())
    assert "Measured: 2.0 s against 12 s, in cohorts that may differ in height." in said(one)
    assert "Measured: 2.0 s against 12 s." in said(one._replace(stacked=False))
    assert "Measured" not in said(one._replace(cost=curve(1, 0.0)))


def test_an_arm_that_draws_a_front_is_told_from_where_to_where() -> None:
    own = place(draws=True)
    few, many = (
        own._replace(place=own.place._replace(between={"weighting.beta": (Amount(0.01, *a), Amount(0.3, *b))}))
        for a, b in (
            [(None, 2, None, None, True)] * 2,
            [(0.1, 5, 0.008, 0.0126, True), (0.2, 5, 0.19, 0.475, True)],
        )
    )
    assert "It lands where β ≈ 0.01 to 0.3 lands. It took 1 training per seed" in said(rival(few))
    assert "where β ≈ 0.01 (0.008 to 0.013) to 0.3 (0.19 to 0.47) lands" in said(rival(many))


def test_the_arm_that_does_best_by_distance_is_told_and_the_others_are_counted() -> None:
    rivals = [
        rival(place(-0.3, p=0.001), "b", difference=9.0),
        rival(place(0.1, p=0.001), "arm", difference=-9.0),
        rival(place(0.0), "c"),
        rival(place(-0.1, 0.5, p=0.4), "d"),
        rival(place(None, None, beyond=1.0), "e"),
    ]
    words = said(*rivals)
    assert words.startswith("arm lies above base’s front") and "Holm over 5 arms" in words
    assert words.endswith(
        "Of 4 other arms: 1 on the front, 1 below the front, 1 not shown to be off the front, 1 beyond its reach."
    )


def test_what_is_shown_but_within_the_tolerance_is_slight() -> None:
    above, below = (rival(place(mean, 0.019, p=0.001), "arm") for mean in (0.015, -0.015))
    assert said(above).startswith("arm lies slightly above base’s front")
    assert said(below).startswith("arm lies slightly below base’s front")
    assert said(rival(place(0.015, 0.019, p=0.2), "arm")).startswith("arm is not shown to lie off base’s front")


def test_hypervolume_is_tested_between_fronts_of_as_many_points_only() -> None:
    one = rival(place(0.0, draws=True), "arm", difference=9.0)
    other = rival(place(0.0, draws=True), drawn=(Drawn(5.0, True), Drawn(14.0, True)))
    assert "no test" in said(other) and "no test" not in said(one) and "points" not in said(one)
    assert "(5 points per seed against 14: hypervolume grows with their number, no test)" in said(other)
    of_a_point = rival(place(0.0, draws=True), drawn=(Drawn(5.0, True), Drawn(5.0, False)))
    assert "(a front against one point, no test)" in said(of_a_point)


def test_one_other_arm_is_not_counted_but_told() -> None:
    assert said(rival(place()), rival(place(-0.3, p=0.001), "b")).endswith("The other arm, b: below the front.")


def test_a_named_baseline_without_a_result_is_said() -> None:
    one = [result("base", None, {}), result("arm")]
    assert verdict(one, [], AXES, ended=False, awaited="base") == (
        "So far: base, the baseline, has no result yet: there is no front to measure by."
    )


def test_without_a_result_that_is_said() -> None:
    nothing = [result("base", None, {}), result("arm", None, {})]
    assert verdict(nothing, [], AXES, ended=False) == "No results yet."
    assert verdict(nothing, [], AXES, ended=True) == "No trial produced a result."
    outside = [result("base", 0.0, {0: 0.0}), result("arm", None, {})]
    assert "No trial lies within the reference point" in verdict(outside, [], AXES, ended=True)


def test_an_arm_alone_is_told_with_its_interval() -> None:
    one = result("base", 8.0, {0: 8.0})._replace(hypervolume=Interval(8.0, None, 1))
    assert "one seed, no interval" in verdict([one], [], AXES, ended=True)
    two = result("base", 8.0, {0: 7.0, 1: 9.0})._replace(hypervolume=mean_interval([7.0, 9.0]))
    assert verdict([two], [], AXES, ended=True) == (
        "base has a hypervolume of 7.00 and 9.00, two seeds, both values, no interval."
    )
    both = [result("base")._replace(hypervolume=Interval(8.0, 0.5, 3)), result("arm", None, {})]
    words = verdict(both, [], AXES, ended=False)
    assert words.startswith("So far: base has a hypervolume of 8.0") and "mean ± 95 % interval over 3 seeds" in words
    assert words.endswith("The other arm has no result yet.")
    three = [*both, result("c", None, {})]
    assert verdict(three, [], AXES, ended=True).endswith("The other arms have no result.")


# From results to pairs


def volumes(**by_arm: list[float]) -> list[ArmResult]:
    """Arms with these hypervolumes, one trial a seed."""
    trials: list[Trial] = [
        Trial(f"{arm}{seed}", arm, seed, {"i_xz_bits": 9.0, "i_zy_bits": volume})
        for arm, each in by_arm.items()
        for seed, volume in enumerate(each)
    ]
    return compare(trials, list(by_arm), range(9), AXES)


def spent(**by_arm: list[float]) -> dict[str, list[Spent]]:
    return {
        arm: [Spent(seed, 1.0, [Point(f"{arm}{seed}", arm, seed, (9.0, v))]) for seed, v in enumerate(each)]
        for arm, each in by_arm.items()
    }


def test_tests_are_adjusted_together_and_the_baseline_is_no_pair() -> None:
    given = {"base": [1.0, 2.0, 3.0, 4.0], "b": [1.4, 2.1, 3.5, 4.2], "c": [1.1, 2.3, 3.1, 4.6]}
    pairs = pairs_of(volumes(**given), "base", spent(**given), AXES, (), list(given), dict.fromkeys(given, FRONT))
    assert [(p.arm, p.baseline) for p in pairs] == [("b", "base"), ("c", "base")]
    raw = [p.paired.p_value or 0.0 for p in pairs]
    first, second = (0, 1) if raw[0] <= raw[1] else (1, 0)
    assert pairs[first].p_adjusted == pytest.approx(2 * raw[first])
    assert pairs[second].p_adjusted == pytest.approx(max(raw[second], 2 * raw[first]))


def test_an_arm_under_way_is_not_tested_and_does_not_count_among_the_tests() -> None:
    given = {"base": [1.0, 2.0, 3.0], "b": [1.4, 2.1, 3.5], "c": [1.1, 2.3, 3.1]}
    b, c = pairs_of(volumes(**given), "base", spent(**given), AXES, (), ["base", "b"], dict.fromkeys(given, FRONT))
    assert (b.whole, c.whole) == (True, False)
    assert b.p_adjusted == b.paired.p_value is not None
    assert (c.p_adjusted, c.paired.p_value, c.paired.effect_size) == (None, None, None)
    assert c.paired.difference.mean == pytest.approx((0.1 + 0.3 + 0.1) / 3), "arm minus baseline, tested or not"


def test_nothing_is_tested_against_a_baseline_under_way() -> None:
    given = {"base": [1.0, 2.0, 3.0], "b": [1.4, 2.1, 3.5]}
    (b,) = pairs_of(volumes(**given), "base", spent(**given), AXES, (), ["b"], dict.fromkeys(given, FRONT))
    assert (b.whole, b.p_adjusted) == (False, None)
    assert (b.reach.reached, b.reach.of) == (0, 0), "what it will have spent is not known yet"


def test_what_is_reached_is_the_arms_hypervolume_by_the_baselines_trials() -> None:
    given = {"base": [3.0, 3.0], "b": [2.0, 4.0]}
    (b,) = pairs_of(volumes(**given), "base", spent(**given), AXES, (), list(given), dict.fromkeys(given, FRONT))
    assert (b.reach.reached, b.reach.of, b.reach.trials) == (1, 2, 1.0)


def test_an_arm_without_a_result_makes_no_pair() -> None:
    given = {"base": [1.0, 2.0], "b": []}
    assert pairs_of(volumes(**given), "base", spent(**given), AXES, (), list(given), dict.fromkeys(given, FRONT)) == []
    assert pairs_of(volumes(**given), None, spent(**given), AXES, (), list(given), dict.fromkeys(given, FRONT)) == []


# Arms side by side


def test_a_lost_seed_counts_as_nothing_and_a_missing_one_does_not_count() -> None:
    trials: list[Trial] = [Trial("t", "a", 0, {"i_xz_bits": 2.0, "i_zy_bits": 1.0, "accuracy": 0.7})]
    (lost,) = compare(trials, ["a"], [0, 1], AXES, lost={("a", 1)})
    (missing,) = compare(trials, ["a"], [0, 1], AXES)
    (others,) = compare(trials, ["a"], [0, 1], AXES, lost={("b", 1)})
    assert lost.by_seed == {0: 8.0, 1: 0.0} and lost.hypervolume.mean == 4.0
    assert missing.by_seed == others.by_seed == {0: 8.0}


def test_the_best_value_goes_by_the_goal_of_the_study() -> None:
    trials: list[Trial] = [
        Trial("t", "a", 0, {"i_xz_bits": 2.0, "i_zy_bits": 1.0, "accuracy": 0.7}),
        Trial("u", "a", 0, {"i_xz_bits": 3.0, "i_zy_bits": 5.0, "accuracy": 0.6}),
        Trial("v", "b", 0, {"i_xz_bits": 1.0, "i_zy_bits": 9.0, "accuracy": 0.9}),
    ]
    a, b = compare(trials, ["a", "b"], [0], AXES)
    assert a.best == {"i_xz_bits": 2.0, "i_zy_bits": 5.0, "accuracy": 0.7}
    assert (a.front_share, a.on_front, b.on_front) == (0.0, 0, 1)
    assert b.front_share == pytest.approx(1 - (8 + 7 * 4) / 81), "without b, a still attains its own"
    assert [a.hypervolume_all_seeds, b.hypervolume_all_seeds] == pytest.approx([8 + 7 * 4, 81])


def test_a_study_may_turn_the_goal_of_a_metric_round() -> None:
    trials: list[Trial] = [
        Trial("t", "a", 0, {"i_xz_bits": 2.0, "i_zy_bits": 1.0}),
        Trial("u", "a", 0, {"i_xz_bits": 3.0, "i_zy_bits": 5.0}),
    ]
    turned = (Axis("i_xz_bits", "maximize", 0.0), Axis("i_zy_bits", "minimize", 10.0))
    (a,) = compare(trials, ["a"], [0], turned)
    assert (a.best["i_xz_bits"], a.best["i_zy_bits"]) == (3.0, 1.0)
