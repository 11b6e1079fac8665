"""Analyses where values are 0, missing, equal, or one: what must not vanish and what must not be invented."""

from __future__ import annotations

import numpy as np
import pytest

from service.analysis import Axis, Point, Trial, compare, metric_intervals
from service.analysis.arm_places import ArmPlace
from service.analysis.attainment import surfaces, worst_corner
from service.analysis.candidates import objectives, spent_by_arm
from service.analysis.compared import compared
from service.analysis.cost import Reach, Spent
from service.analysis.indicators import over_seeds
from service.analysis.intervals import Interval
from service.analysis.paired import paired
from service.analysis.place import NOWHERE
from service.analysis.trial_table import known_keys, ordered
from service.analysis.variance import explained, levels_of
from service.analysis.verdict import pair_words, reach_words
from service.contract.wire.errors import InvalidInput
from tests.service.analysis.test_verdict import pair, place, rival, said
from tests.service.studies import MANUAL, MIB, bottleneck_of, play

PLANE = (Axis("i_xz_bits", "minimize", 32.0), Axis("i_zy_bits", "maximize", 0.0))


# Pairs and their words


def test_without_a_distance_the_dominated_share_has_its_interval_and_the_reason() -> None:
    """Three objectives, or one that does not vary: neighbours have no order, a range of 0 is no unit."""
    axes = [("i_xz_bits", "minimize"), ("i_zy_bits", "maximize"), ("accuracy", "maximize")]
    said = []
    for count, gain in ((3, 1.0), (2, 0.0)):
        goals = [{"metric": metric, "goal": goal} for metric, goal in axes[:count]]
        view = bottleneck_of(MANUAL, MIB, seeds=range(3), objectives=goals)
        for i, trial in enumerate(view.trials):
            play(view, trial, [{"i_xz_bits": 5.0 + i, "i_zy_bits": 1 + gain * i, "accuracy": 0.5 + 0.01 * gain * i}])
        said.append(compared(view).words["MIB"])
    three, flat = said
    assert three == (
        "0 % (0 to 56) of MIB’s front is dominated by manual β’s (3 seeds, Wilson’s 95 % interval; with 3 objectives "
        "there is no distance to a front)"
    )
    assert flat.startswith("100 % (44 to 100) of MIB’s front is dominated by manual β’s (3 seeds, Wilson’s 95 % ")
    assert flat.endswith("with an objective that does not vary there is no distance to a front)")


def test_an_arm_that_equals_the_baseline_reaches_all_of_it() -> None:
    same = paired({0: 1.0, 1: 3.0}, {1: 3.0, 0: 1.0, 2: 9.0})
    assert same.ratio == Interval(1.0, None, 2) and same.difference == Interval(0.0, None, 2, 0.0, 0.0)
    assert (same.p_value, same.effect_size) == (None, None)
    words = pair_words(pair(difference=0.0, p=None, adjusted=None, ratio=1.0, effect=None), 1)
    assert words == "arm reaches 100 % ± 2 of base’s hypervolume (equal in each of 3 seeds)"


def test_an_arm_with_nothing_reaches_none_of_it() -> None:
    assert paired({0: 0.0, 1: 0.0}, {0: 2.0, 1: 4.0}).ratio.mean == 0.0
    assert "arm reaches less: 0 % ± 2 of base’s hypervolume" in pair_words(pair(ratio=0.0), 1)
    assert "an unknown share of base’s hypervolume" in pair_words(pair(ratio=None), 1)


def test_the_same_difference_in_each_seed_is_told_with_its_size_and_not_tested() -> None:
    constant = paired({0: 2.0, 1: 4.0, 2: 6.0}, {0: 1.0, 1: 3.0, 2: 5.0})
    assert constant.difference.mean == 1.0 and constant.p_value is None
    words = pair_words(pair(difference=1.0, p=None, adjusted=None, effect=None), 1)
    assert words.endswith("(+1.00 ± 0.25, 3 seeds, the same difference in each: no test)")


def test_one_and_a_half_trials_are_two() -> None:
    def words(trials: float) -> str:
        return reach_words(pair(reach=Reach(Interval(30.0, None, 2), trials, 2, 2)))

    assert [words(t).partition(" needs ")[2] for t in (1.0, 1.4, 1.6, 2.4)] == [
        "1 training per seed for as much.",
        "1 training per seed for as much.",
        "2 trainings per seed for as much.",
        "2 trainings per seed for as much.",
    ]


def test_an_arm_without_a_common_seed_is_not_the_best() -> None:
    apart = rival(ArmPlace(NOWHERE, None, over_seeds([]), False, pair(seeds=0).paired, None, True, {}), "b")
    words = said(apart, rival(place(-0.3, p=0.001)))
    assert words.startswith("arm lies below base’s front") and words.endswith("The other arm, b: not placed.")
    assert said(apart).startswith("b and base have no seed in common yet.")


def test_a_best_value_may_be_0() -> None:
    trials: list[Trial] = [
        Trial("t", "a", 0, {"i_xz_bits": 0.0, "i_zy_bits": 0.0, "accuracy": 0.0}),
        Trial("u", "a", 0, {"i_xz_bits": 3.0, "i_zy_bits": -1.0, "accuracy": None}),
    ]
    (result,) = compare(trials, ["a"], [0], PLANE)
    assert result.best == {"i_xz_bits": 0.0, "i_zy_bits": 0.0, "accuracy": 0.0}


# What was spent


def test_what_a_trial_cost_is_its_last_seconds_in_the_order_of_ending() -> None:
    view = bottleneck_of(MANUAL, MIB, seeds=(7,))
    low, middle, high, mib = view.trials
    play(view, middle, [{"seconds": 2.0}, {"seconds": 5.0, "i_xz_bits": 3.0, "i_zy_bits": 1.0}])
    play(view, low, [{"i_xz_bits": 4.0, "i_zy_bits": 2.0}])
    play(view, high, [{"seconds": 3.0, "i_xz_bits": 9.0, "i_zy_bits": 1.0}], "trial_failed")
    play(view, mib, [{"seconds": 1.0, "i_xz_bits": 9.0, "i_zy_bits": 1.0}], "")
    spent = spent_by_arm(view, objectives(view))
    assert spent["manual β"] == [
        Spent(7, 5.0, [Point(middle, "manual β", 7, (3.0, 1.0))]),
        Spent(7, 0.0, [Point(low, "manual β", 7, (4.0, 2.0))]),  # it told of no time
        Spent(7, 3.0, []),  # it failed: it cost, and brought nothing
    ]
    assert spent["MIB"] == [], "it has not ended"


# Intervals


def test_one_example_has_an_interval_and_none_has_not() -> None:
    one = metric_intervals({"accuracy": 1.0, "test_examples": 1.0})["accuracy"]
    assert one == pytest.approx((0.2065, 1.0), abs=1e-4)
    assert metric_intervals({"accuracy": 1.0, "test_examples": 0.0}) == {}
    assert metric_intervals({"accuracy": 1.0}) == {}


def test_what_is_no_metric_has_no_interval() -> None:
    assert metric_intervals({"oddity": 0.5, "test_examples": 10.0, "accuracy": None}) == {}


# Attainment


def test_surfaces_are_sorted_along_x_whichever_way_is_better() -> None:
    both = (Axis("accuracy", "maximize", 0.0), Axis("robust_pgd", "maximize", 0.0))
    own = {seed: [Point("t", "a", seed, place) for place in ((0.9, 0.1), (0.5, 0.5), (0.1, 0.9))] for seed in (0, 1)}
    assert surfaces(own, both)[50] == [(0.1, 0.9), (0.5, 0.5), (0.9, 0.1)]
    turned = {seed: [point._replace(values=point.values[::-1]) for point in points] for seed, points in own.items()}
    assert surfaces(turned, both)[50] == [(0.1, 0.9), (0.5, 0.5), (0.9, 0.1)]


def test_the_box_of_a_single_point_has_room_beyond_it() -> None:
    def corner(*places: tuple[float, float]) -> tuple[float, float]:
        return worst_corner([Point("t", "a", 0, place) for place in places], PLANE)

    assert corner((4.0, 2.0)) == pytest.approx((4.2, 1.9))
    assert corner((0.0, 0.0)) == pytest.approx((0.05, -0.05))
    assert corner((-2.0, 1.0), (2.0, 3.0)) == pytest.approx((2.2, 0.9))


# Importance


def test_numbers_of_more_than_thirty_levels_are_binned_however_often_each_is_tried() -> None:
    groups, binned = levels_of([float(i) for i in range(31)] * 3)
    assert binned and sorted(set(groups.tolist())) == list(range(6))
    groups, binned = levels_of([float(i) for i in range(30)] * 3)
    assert not binned and len(set(groups.tolist())) == 30
    words, binned = levels_of([f"w{i}" for i in range(31)] * 3)
    assert not binned and len(set(words.tolist())) == 31


def test_shares_and_their_intervals_by_value() -> None:
    """Two arms of three βs and four seeds; the draws are always the same, so their quantiles are too."""
    noise = np.random.default_rng(1).normal(size=24)
    arms = ["a"] * 12 + ["b"] * 12
    betas = [0.1, 0.2, 0.3] * 8
    y = [2.0 * (arm == "b") + 5.0 * beta + 0.3 * e for arm, beta, e in zip(arms, betas, noise, strict=True)]
    found = explained(y, {"β": betas}, arms)
    assert found is not None and found.trials == 24
    assert [(e.name, e.levels) for e in found.effects] == [("arm", 2), ("β", 3)]
    values = np.array(y)
    total = float(((values - values.mean()) ** 2).sum())
    by_arm = sum(12 * (values[arm].mean() - values.mean()) ** 2 for arm in (slice(0, 12), slice(12, 24)))
    cells = [values[[i for i in range(24) if (arms[i], betas[i]) == cell]] for cell in zip(arms, betas, strict=True)]
    within = sum(float(((c - c.mean()) ** 2).sum()) for c in cells) / 4  # each cell of four is listed four times
    square = within / 18
    between = total - by_arm - within
    assert found.effects[0].share == pytest.approx((by_arm - square) / total, rel=1e-6)
    assert found.effects[1].share == pytest.approx((between - 4 * square) / total, rel=1e-6)
    ends = [end for effect in found.effects for end in (effect.low, effect.high)]
    assert ends == pytest.approx([0.676, 0.875, 0.104, 0.296], abs=2e-3)


# The table


def test_a_refused_key_is_told_with_the_known_ones_in_order() -> None:
    view = bottleneck_of(MIB)
    with pytest.raises(InvalidInput) as caught:
        ordered(view, list(view.trials), "-colour")
    assert caught.value.message == f"cannot sort by 'colour'; known: {', '.join(sorted(known_keys(view)))}"
    assert [detail.path for detail in caught.value.details] == ["sort"]
