"""What is said about arms, from pairs whose numbers a test chose: every number in a sentence is the right one."""

from __future__ import annotations

from typing import Any

import pytest

from service.analysis import ArmResult, Axis, Interval, Pair, compare, mean_interval, pairs_of
from service.analysis.cost import Reach, Spent
from service.analysis.fronts import Point
from service.analysis.paired import LEVEL, Paired
from service.analysis.verdict import pair_words, reach_words, verdict

SECONDS = {"base": 200.0, "arm": 50.0, "b": 20.0, "c": 20.0, "d": 20.0, "e": 20.0}
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
) -> Pair:
    half = None if seeds == 1 else 0.25
    tested = Paired(Interval(ratio, None if seeds == 1 else 0.02, seeds), Interval(difference, half, seeds), p, effect)
    return Pair(arm, "base", tested, adjusted, reach, whole)


def result(name: str, mean: float | None = 8.0, by_seed: dict[int, float] | None = None) -> ArmResult:
    own = {0: 8.0, 1: 8.0} if by_seed is None else by_seed
    return ArmResult(name, Interval(mean, 0.5, len(own)), own, mean, 0.5, 1, {})


def results(*names: str) -> list[ArmResult]:
    return [result(name) for name in ("base", *names)]


def test_the_adjusted_p_is_printed_not_the_raw_one() -> None:
    words = pair_words(pair(p=0.011, adjusted=0.033), SECONDS, tests=3)
    assert "p = 0.033" in words and "0.011" not in words
    assert "Holm over 3 arms" in words and "Holm over 2 arms" in pair_words(pair(), SECONDS, tests=2)
    alone = pair_words(pair(p=0.011, adjusted=0.011), SECONDS, tests=1)
    assert "p = 0.011" in alone and "Holm" not in alone


def test_a_difference_is_shown_by_the_adjusted_p_alone() -> None:
    """0.02 would be shown, 0.06 is not."""
    hidden, seen = pair(p=0.02, adjusted=0.06), pair(p=0.02, adjusted=0.049)
    assert (hidden.shown, seen.shown) == (False, True)
    assert pair_words(hidden, SECONDS, 3).startswith("No difference shown between arm and base: ")
    assert pair_words(seen, SECONDS, 3).startswith("arm reaches less: 90 % ± 2 of base’s hypervolume")
    assert pair_words(seen._replace(paired=pair(difference=1.0).paired), SECONDS, 3).startswith("arm reaches more: ")
    assert LEVEL == 0.05 and not pair(adjusted=0.05).shown and not pair(adjusted=None).shown


def test_the_sentence_holds_difference_seeds_p_and_size() -> None:
    words = pair_words(pair(difference=-1.0, seeds=4, effect=-2.0), SECONDS, 1)
    assert "(−1.00 ± 0.25, paired t-test over 4 seeds, p = 0.030, g = −2.00)" in words
    assert "(+1" in pair_words(pair(difference=1.0), SECONDS, 1)
    assert "g =" not in pair_words(pair(effect=None), SECONDS, 1)


def test_training_time_is_the_arms_as_a_share_of_the_baselines() -> None:
    assert "with 25 % of its training time" in pair_words(pair(), SECONDS, 1)
    assert "training time" not in pair_words(pair(), {"base": 0.0, "arm": 5.0}, 1)
    assert "training time" not in pair_words(pair(), {"base": 5.0, "arm": 0.0}, 1)


def test_one_seed_says_so_and_tests_nothing() -> None:
    words = pair_words(pair(seeds=1, p=None, adjusted=None, effect=None), SECONDS, 1)
    assert words == (
        "arm reaches 90 % of base’s hypervolume with 25 % of its training time (one seed: no interval, no test)"
    )


def test_arms_that_have_not_ended_are_not_tested() -> None:
    words = pair_words(pair(whole=False, p=None, adjusted=None), SECONDS, 1)
    assert "not all trials have ended: no test" in words and "p =" not in words
    one = pair_words(pair(whole=False, seeds=1, p=None, adjusted=None), SECONDS, 1)
    assert "one seed, not all trials have ended: no test" in one


def test_arms_without_a_common_seed_say_so() -> None:
    words = pair_words(pair(difference=0.0, seeds=0, p=None, adjusted=None, ratio=None), SECONDS, 1)
    assert words == "arm and base have no seed in common yet"


def test_what_the_baseline_spends_is_said_with_its_seeds_and_trials() -> None:
    def words(reached: int, of: int, seconds: float | None, trials: float | None) -> str:
        return reach_words(pair(reach=Reach(Interval(seconds, None, reached), trials, reached, of)))

    assert words(3, 3, 90.0, 7.6) == "base needs 1 m 30 s of training for as much, 8 trials per seed."
    assert "3 trials per seed" in words(3, 3, 90.0, 2.5), "half a trial counts, as everywhere"
    assert words(2, 3, 90.0, 1.2) == "base needs 1 m 30 s of training for as much, 1 trial per seed, in 2 of 3 seeds."
    assert words(0, 3, None, None) == "base does not reach arm’s hypervolume in any seed."
    assert words(0, 0, None, None) == ""


# The whole verdict


def test_the_best_arm_is_told_and_the_others_are_counted_only_where_something_is_shown() -> None:
    pairs = [
        pair(-3.0, adjusted=0.01, arm="b"),
        pair(0.5, adjusted=0.2, arm="arm"),
        pair(-1.0, adjusted=0.3, arm="c"),
        pair(-2.0, adjusted=0.06, arm="d"),
        pair(0.4, adjusted=0.5, arm="e"),
    ]
    words = verdict(results("arm", "b", "c", "d", "e"), pairs, SECONDS, ended=True)
    assert words.startswith("No difference shown between arm and base: ")
    assert words.endswith("Of 4 other arms: 1 less, 3 no difference shown.")
    assert "Holm over 5 arms" in words


def test_more_and_less_are_told_apart() -> None:
    pairs = [
        pair(5.0, adjusted=0.01, arm="arm"),
        pair(2.0, adjusted=0.01, arm="b"),
        pair(-2.0, adjusted=0.01, arm="c"),
        pair(1.0, adjusted=0.01, arm="d"),
    ]
    words = verdict(results("arm", "b", "c", "d"), pairs, SECONDS, ended=True)
    assert words.startswith("arm reaches more: ")
    assert words.endswith("Of 3 other arms: 2 more, 1 less.")


@pytest.mark.parametrize(
    ("difference", "adjusted", "said"), [(-2.0, 0.01, "less"), (0.5, 0.01, "more"), (-2.0, 0.4, "no difference shown")]
)
def test_one_other_arm_is_not_counted_but_told(difference: float, adjusted: float, said: str) -> None:
    pairs = [pair(1.0, arm="arm"), pair(difference, adjusted=adjusted, arm="b")]
    assert verdict(results("arm", "b"), pairs, SECONDS, ended=True).endswith(f"The other arm: {said}.")


def test_what_the_baseline_spends_follows_the_sentence_about_the_best() -> None:
    reach = Reach(Interval(30.0, None, 3), 2.0, 3, 3)
    other = Reach(Interval(99.0, None, 3), 9.0, 3, 3)
    words = verdict(
        results("arm", "b"), [pair(-5.0, arm="b", reach=other), pair(-1.0, reach=reach)], SECONDS, ended=True
    )
    assert "base needs 30 s of training for as much, 2 trials per seed." in words and "99 s" not in words


def test_a_running_study_says_so_far_and_an_ended_one_does_not() -> None:
    assert verdict(results("arm"), [pair()], SECONDS, ended=False).startswith("So far: arm reaches less")
    assert verdict(results("arm"), [pair()], SECONDS, ended=True).startswith("arm reaches less")


def test_without_a_result_that_is_said() -> None:
    nothing = [result("base", None, {}), result("arm", None, {})]
    assert verdict(nothing, [], SECONDS, ended=False) == "No results yet."
    assert verdict(nothing, [], SECONDS, ended=True) == "No trial produced a result."
    outside = [result("base", 0.0, {0: 0.0}), result("arm", None, {})]
    assert "No trial lies within the reference point" in verdict(outside, [], SECONDS, ended=True)


def test_an_arm_alone_is_told_with_its_interval() -> None:
    one = result("base", 8.0, {0: 8.0})._replace(hypervolume=Interval(8.0, None, 1))
    assert "one seed, no interval" in verdict([one], [], SECONDS, ended=True)
    two = result("base", 8.0, {0: 7.0, 1: 9.0})._replace(hypervolume=mean_interval([7.0, 9.0]))
    assert verdict([two], [], SECONDS, ended=True) == (
        "base has a hypervolume of 7.00 and 9.00, two seeds, both values, no interval."
    )
    both = [result("base")._replace(hypervolume=Interval(8.0, 0.5, 3)), result("arm", None, {})]
    words = verdict(both, [], SECONDS, ended=False)
    assert words.startswith("So far: base has a hypervolume of 8.0") and "mean ± 95 % interval over 3 seeds" in words
    assert words.endswith("The other arm has no result yet.")
    three = [*both, result("c", None, {})]
    assert verdict(three, [], SECONDS, ended=True).endswith("The other arms have no result.")


# From results to pairs

AXES = (Axis("i_xz_bits", "minimize", 10.0), Axis("i_zy_bits", "maximize", 0.0))


def volumes(**by_arm: list[float]) -> list[ArmResult]:
    """Arms with these hypervolumes, one trial a seed."""
    trials: list[Any] = [
        (f"{arm}{seed}", arm, seed, {"i_xz_bits": 9.0, "i_zy_bits": volume})
        for arm, each in by_arm.items()
        for seed, volume in enumerate(each)
    ]
    return compare(trials, list(by_arm), range(9), AXES)


def spent(**by_arm: list[float]) -> dict[str, list[Spent]]:
    return {
        arm: [Spent(seed, 1.0, Point(f"{arm}{seed}", arm, seed, (9.0, v))) for seed, v in enumerate(each)]
        for arm, each in by_arm.items()
    }


def test_tests_are_adjusted_together_and_the_baseline_is_no_pair() -> None:
    given = {"base": [1.0, 2.0, 3.0, 4.0], "b": [1.4, 2.1, 3.5, 4.2], "c": [1.1, 2.3, 3.1, 4.6]}
    pairs = pairs_of(volumes(**given), "base", spent(**given), AXES, (), list(given))
    assert [(p.arm, p.baseline) for p in pairs] == [("b", "base"), ("c", "base")]
    raw = [p.paired.p_value or 0.0 for p in pairs]
    first, second = (0, 1) if raw[0] <= raw[1] else (1, 0)
    assert pairs[first].p_adjusted == pytest.approx(2 * raw[first])
    assert pairs[second].p_adjusted == pytest.approx(max(raw[second], 2 * raw[first]))


def test_an_arm_under_way_is_not_tested_and_does_not_count_among_the_tests() -> None:
    given = {"base": [1.0, 2.0, 3.0], "b": [1.4, 2.1, 3.5], "c": [1.1, 2.3, 3.1]}
    b, c = pairs_of(volumes(**given), "base", spent(**given), AXES, (), ["base", "b"])
    assert (b.whole, c.whole) == (True, False)
    assert b.p_adjusted == b.paired.p_value is not None
    assert (c.p_adjusted, c.paired.p_value, c.paired.effect_size) == (None, None, None)
    assert c.paired.difference.mean == pytest.approx((0.1 + 0.3 + 0.1) / 3), "arm minus baseline, tested or not"


def test_nothing_is_tested_against_a_baseline_under_way() -> None:
    given = {"base": [1.0, 2.0, 3.0], "b": [1.4, 2.1, 3.5]}
    (b,) = pairs_of(volumes(**given), "base", spent(**given), AXES, (), ["b"])
    assert (b.whole, b.p_adjusted) == (False, None)
    assert (b.reach.reached, b.reach.of) == (0, 0), "what it will have spent is not known yet"


def test_what_is_reached_is_the_arms_hypervolume_by_the_baselines_trials() -> None:
    given = {"base": [3.0, 3.0], "b": [2.0, 4.0]}
    (b,) = pairs_of(volumes(**given), "base", spent(**given), AXES, (), list(given))
    assert (b.reach.reached, b.reach.of, b.reach.trials) == (1, 2, 1.0)


def test_an_arm_without_a_result_makes_no_pair() -> None:
    given = {"base": [1.0, 2.0], "b": []}
    assert pairs_of(volumes(**given), "base", spent(**given), AXES, (), list(given)) == []
    assert pairs_of(volumes(**given), None, spent(**given), AXES, (), list(given)) == []


# Arms side by side


def test_a_lost_seed_counts_as_nothing_and_a_missing_one_does_not_count() -> None:
    trials: list[Any] = [("t", "a", 0, {"i_xz_bits": 2.0, "i_zy_bits": 1.0, "accuracy": 0.7})]
    (lost,) = compare(trials, ["a"], [0, 1], AXES, lost={("a", 1)})
    (missing,) = compare(trials, ["a"], [0, 1], AXES)
    (others,) = compare(trials, ["a"], [0, 1], AXES, lost={("b", 1)})
    assert lost.by_seed == {0: 8.0, 1: 0.0} and lost.hypervolume.mean == 4.0
    assert missing.by_seed == others.by_seed == {0: 8.0}


def test_the_best_value_goes_by_the_goal_of_the_study() -> None:
    trials: list[Any] = [
        ("t", "a", 0, {"i_xz_bits": 2.0, "i_zy_bits": 1.0, "accuracy": 0.7}),
        ("u", "a", 0, {"i_xz_bits": 3.0, "i_zy_bits": 5.0, "accuracy": 0.6}),
        ("v", "b", 0, {"i_xz_bits": 1.0, "i_zy_bits": 9.0, "accuracy": 0.9}),
    ]
    a, b = compare(trials, ["a", "b"], [0], AXES)
    assert a.best == {"i_xz_bits": 2.0, "i_zy_bits": 5.0, "accuracy": 0.7}
    assert (a.front_share, a.on_front, b.on_front) == (0.0, 0, 1)
    assert b.front_share == pytest.approx(1 - (8 + 7 * 4) / 81), "without b, a still attains its own"
    assert [a.hypervolume_all_seeds, b.hypervolume_all_seeds] == pytest.approx([8 + 7 * 4, 81])


def test_a_study_may_turn_the_goal_of_a_metric_round() -> None:
    trials: list[Any] = [
        ("t", "a", 0, {"i_xz_bits": 2.0, "i_zy_bits": 1.0}),
        ("u", "a", 0, {"i_xz_bits": 3.0, "i_zy_bits": 5.0}),
    ]
    turned = (Axis("i_xz_bits", "maximize", 0.0), Axis("i_zy_bits", "minimize", 10.0))
    (a,) = compare(trials, ["a"], [0], turned)
    assert (a.best["i_xz_bits"], a.best["i_zy_bits"]) == (3.0, 1.0)
