"""Arms against each other: paired tests, cost, the words of the verdict, each by hand or by another library."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from service.analysis import Axis, Interval, Point, Trial, baseline_of, compare, pairs_of
from service.analysis.compared import compared
from service.analysis.comparison import Drawn
from service.analysis.cost import Spent, cost_curve, cost_to_reach
from service.analysis.paired import holm, paired
from service.analysis.place_words import standing_words
from service.analysis.truth import gaussian_at_rate
from service.analysis.verdict import pair_words, reach_words
from service.answers.comparison import comparison_answer
from service.contract.study.parsing import check_study
from service.contract.wire.answers.comparison import OverSeeds
from service.contract.wire.events import StudyState
from service.store.protocol import Logged, StudyRow
from service.views.fold import StudyView
from service.views.overlay import Overlay
from tests.service.studies import event

AXES = (Axis("i_xz_bits", "minimize", 10.0), Axis("i_zy_bits", "maximize", 0.0))
NOW = "2026-01-01T00:00:00+00:00"
Metrics = dict[str, float | None]


def spent(seed: int, seconds: float, x: float | None = None, y: float = 0.0) -> Spent:
    return Spent(seed, seconds, [] if x is None else [Point(f"{x}:{y}", "a", seed, (x, y))])


# Paired tests


def test_the_paired_test_is_that_of_scipy() -> None:
    arm, base = {0: 1.0, 1: 2.5, 2: 2.0, 3: 4.0}, {0: 2.0, 1: 3.0, 2: 3.5, 3: 4.1}
    found = paired(arm, base)
    ours = scipy.stats.ttest_rel(list(arm.values()), list(base.values()))
    assert found.p_value == pytest.approx(ours.pvalue)
    assert found.difference.mean == pytest.approx(-0.775)
    low, high = ours.confidence_interval(0.95)
    assert found.difference.half_width == pytest.approx((high - low) / 2)
    differences = [-1.0, -0.5, -1.5, -0.1]
    sd = math.sqrt(sum((d + 0.775) ** 2 for d in differences) / 3)
    assert found.effect_size == pytest.approx((1 - 3 / 11) * -0.775 / sd)


def test_only_seeds_that_both_have_are_paired() -> None:
    found = paired({0: 1.0, 1: 3.0, 7: 100.0}, {0: 2.0, 1: 2.0, 5: 50.0})
    assert (found.difference.mean, found.difference.seeds) == (0.0, 2)


def test_few_seeds_or_equal_differences_have_no_test() -> None:
    assert paired({0: 1.0}, {0: 2.0})[2:] == (None, None)
    assert paired({0: 1.0, 1: 2.0, 2: 3.0}, {0: 2.0, 1: 3.0, 2: 4.0})[2:] == (None, None)
    assert paired({}, {0: 1.0}).difference == Interval(None, None, 0)


def test_two_seeds_are_two_values_with_neither_interval_nor_test_nor_size() -> None:
    found = paired({0: 11.0, 1: 13.0}, {0: 10.0, 1: 10.0})
    assert found.difference == Interval(2.0, None, 2, 1.0, 3.0)
    assert found.ratio == Interval(1.2, None, 2)
    assert (found.p_value, found.effect_size) == (None, None), "a g of 18 was drawn from two seeds"


def test_a_ratio_whose_interval_is_wider_than_itself_is_none() -> None:
    wild = paired({0: 1.0, 1: 9.0, 2: 2.0}, {0: 5.0, 1: 0.5, 2: 4.0})
    assert wild.difference.half_width is not None and wild.p_value is not None
    assert wild.ratio == Interval(None, None, 3), "126 % ± 300"
    calm = paired({0: 4.0, 1: 0.6, 2: 4.0}, {0: 5.0, 1: 0.5, 2: 4.0})
    assert calm.ratio.mean == pytest.approx(8.6 / 9.5)


def test_rounding_is_no_difference() -> None:
    found = paired({0: 0.1 + 0.2, 1: 2.0}, {0: 0.3, 1: 2.0})
    assert (found.difference.mean, found.p_value) == (0.0, None)


def test_the_ratio_is_that_of_the_means() -> None:
    found = paired({0: 1.5, 1: 2.0, 2: 2.5}, {0: 3.0, 1: 4.0, 2: 5.0})
    assert found.ratio.mean == 0.5 and found.difference.half_width is not None
    assert found.ratio.half_width == pytest.approx(found.difference.half_width / 4)
    almost_nothing = paired({0: 9.0, 1: 0.02}, {0: 10.0, 1: 0.001})
    assert almost_nothing.ratio.mean == pytest.approx(9.02 / 10.001), "one seed near nothing does not decide it"
    assert paired({0: 1.0}, {0: 0.0}).ratio.mean is None


@given(st.lists(st.none() | st.floats(0, 1), max_size=8))
def test_holm_keeps_the_order_and_never_lowers(p_values: list[float | None]) -> None:
    adjusted = holm(p_values)
    known = sorted((p, a) for p, a in zip(p_values, adjusted, strict=True) if p is not None and a is not None)
    assert [a for _, a in known] == sorted(a for _, a in known)
    assert all(p <= a <= 1 for p, a in known)
    assert [p is None for p in p_values] == [a is None for a in adjusted]


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


# Cost


def test_a_cost_curve_by_hand() -> None:
    # One seed, three trials in their order: 8 × 1, then (4, 3) adds 6 × 2, then a failure that only costs.
    curve = cost_curve([spent(0, 1.0, 2, 1), spent(0, 2.0, 4, 3), spent(0, 5.0)], AXES, ordered=True)
    assert curve.trials == [1, 2, 3]
    assert curve.seconds == [1.0, 3.0, 8.0]
    assert curve.mean == [8.0, 20.0, 20.0]
    assert curve.low == [None, None, None], "one seed has no interval"


def test_a_grid_has_no_order_of_its_own() -> None:
    trials = [spent(0, 1.0, 2, 1), spent(0, 3.0, 4, 3)]
    curve = cost_curve(trials, AXES, ordered=False)
    assert 8.0 < curve.mean[0] < 18.0, "the mean over orders lies between the two single trials"
    assert 1.0 < curve.seconds[0] < 3.0
    assert (curve.mean[-1], curve.seconds[-1]) == (20.0, 4.0)


def test_the_band_of_a_cost_curve_is_over_seeds() -> None:
    two = [spent(0, 1.0, 2, 1), spent(1, 3.0, 2, 2)]
    curve = cost_curve([*two, spent(2, 2.0, 2, 3)], AXES, ordered=False)
    assert (curve.mean, curve.seconds, curve.trials) == ([16.0], [2.0], [1])
    assert curve.high == [pytest.approx(16 + 4.302652730 * 8 / math.sqrt(3))] and curve.low == [0.0]
    assert cost_curve(two, AXES, ordered=False).high == [None], "two seeds have no band"


def test_nothing_spent_is_no_curve() -> None:
    assert cost_curve([], AXES, ordered=False).mean == []


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 2), st.floats(0, 9), st.floats(0, 3)), min_size=1, max_size=40))
def test_hypervolume_never_falls_with_more_trials(trials: list[tuple[int, float, float]]) -> None:
    seeds = {seed for seed, _, _ in trials}
    same = [spent(seed, 1.0, x, y) for _, x, y in trials for seed in seeds]  # as many in each seed
    mean = cost_curve(same, AXES, ordered=False).mean
    assert mean, "every seed has come as far as the others"
    assert all(a <= b + 1e-9 for a, b in itertools.pairwise(mean))


def test_a_curve_goes_as_far_as_every_seed_has_come() -> None:
    trials = [spent(0, 1.0, 2, 1), spent(0, 1.0, 4, 3), spent(1, 1.0, 2, 1)]
    assert cost_curve(trials, AXES, ordered=True).trials == [1]


def test_a_target_of_nothing_is_no_target() -> None:
    assert cost_to_reach([spent(0, 1.0, 2, 1)], {0: 0.0}, AXES, ordered=True)[2:] == (0, 0)


def test_the_cost_to_reach_is_where_the_search_gets_there() -> None:
    trials = [spent(0, 1.0, 2, 1), spent(0, 2.0, 4, 3), spent(0, 4.0, 1, 1), spent(1, 1.0, 2, 1)]
    reach = cost_to_reach(trials, {0: 19.0, 1: 19.0, 2: 5.0}, AXES, ordered=True)
    assert (reach.reached, reach.of) == (1, 2), "seed 1 never gets there, seed 2 was not trained"
    assert (reach.seconds.mean, reach.trials) == (3.0, 2.0)


# The comparison


def trials_of(values: dict[str, list[float]]) -> list[Trial]:
    """One trial a seed with a hypervolume of eight times the value."""
    return [
        Trial(f"{arm}{seed}", arm, seed, {"i_xz_bits": 2.0, "i_zy_bits": value})
        for arm, each in values.items()
        for seed, value in enumerate(each)
    ]


def said(values: dict[str, list[float]], whole: bool = True) -> str:
    """What is said of the hypervolume of the second arm against that of the first."""
    arms = list(values)
    seeds = range(max(map(len, values.values())))
    trials = trials_of(values)
    results = compare(trials, arms, seeds, AXES)
    spending = {
        arm: [
            Spent(s, 1.0, [Point(i, a, s, (2.0, float(m["i_zy_bits"] or 0)))]) for i, a, s, m, _ in trials if a == arm
        ]
        for arm in arms
    }
    alike = dict.fromkeys(arms, Drawn(1.0, False))
    pair, *_ = pairs_of(results, arms[0], spending, AXES, (), arms if whole else arms[:1], alike)
    return f"{pair_words(pair, len(arms) - 1)}. {reach_words(pair)}"


def test_no_difference_is_said_when_none_is_shown() -> None:
    words = said({"manual β": [1.0, 2.0, 3.0], "MIB": [2.0, 1.0, 3.1]})
    assert words.startswith("No difference shown between MIB and manual β: ")
    assert "paired t-test over 3 seeds" in words


def test_a_shown_difference_says_which_way() -> None:
    words = said({"manual β": [2.0, 2.1, 2.2], "MIB": [1.0, 1.1, 1.21]})
    assert words.startswith("MIB reaches less: 53 % ± under 1 of manual β’s hypervolume")
    assert "p < 0.001" in words
    assert said({"manual β": [1.0, 1.1, 1.2], "MIB": [2.0, 2.1, 2.21]}).startswith("MIB reaches more: ")


def test_one_seed_has_no_interval_and_no_test() -> None:
    words = said({"manual β": [2.0], "MIB": [1.0]})
    assert words.startswith("MIB reaches 50 % of manual β’s hypervolume (")
    assert "one seed: no interval, no test" in words and "±" not in words


def test_differences_that_do_not_vary_are_not_tested() -> None:
    assert "(equal in each of 3 seeds)" in said({"manual β": [1.0, 2.0, 3.0], "MIB": [1.0, 2.0, 3.0]})
    assert "the same difference in each: no test" in said({"manual β": [1.0, 2.0, 3.0], "MIB": [0.5, 1.5, 2.5]})


def test_of_two_seeds_both_differences_are_told_and_nothing_is_tested() -> None:
    words = said({"manual β": [1.0, 2.0], "MIB": [1.5, 1.75]})
    assert words.startswith("MIB reaches 108 % of manual β’s hypervolume (")
    assert "(−2.00 and +4.00, two seeds: no interval, no test)" in words and "±" not in words and "p " not in words
    assert "(equal in both, two seeds: no interval, no test)" in said({"manual β": [1.0, 2.0], "MIB": [1.0, 2.0]})


def test_nothing_is_tested_before_all_trials_have_ended() -> None:
    words = said({"manual β": [2.0, 2.1, 2.2], "MIB": [1.0, 1.1, 1.21]}, whole=False)
    assert (
        words.startswith("MIB reaches 53 % ± under 1 of manual β’s") and "not all trials have ended: no test" in words
    )
    assert "p " not in words and "less" not in words


def test_the_cost_of_the_grid_is_said() -> None:
    assert "manual β needs 1 training per seed for as much." in said({"manual β": [2.0], "MIB": [1.0]})
    assert "manual β does not reach MIB’s hypervolume in any seed." in said({"manual β": [1.0], "MIB": [2.0]})


def test_the_baseline_is_by_hand_then_the_largest_plan() -> None:
    results = compare(trials_of({"a": [1.0], "b": [2.0], "c": [3.0]}), ["a", "b", "c"], [0], AXES)
    assert baseline_of(results, {"a": 1, "b": 9, "c": 1}, ["a", "c"]) == "c"
    assert baseline_of(results, {"a": 1, "b": 9, "c": 1}, []) == "b"
    assert baseline_of(compare([], ["a"], [0], AXES), {"a": 1}, []) is None


def test_the_baseline_is_the_one_that_the_study_names_once_it_has_a_result() -> None:
    results = compare(trials_of({"a": [1.0], "b": [2.0], "c": []}), ["a", "b", "c"], [0], AXES)
    planned = {"a": 1, "b": 9, "c": 1}
    assert baseline_of(results, planned, ["b"], named="a") == "a"
    assert baseline_of(results, planned, ["b"], named="c") is None


# From a view


def view_of(seeds: tuple[int, ...] = (0, 1), **spec: Any) -> StudyView:
    arms = [
        {"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": [0.01, 0.1]}}},
        {"name": "MIB", "weighting": {"name": "mib"}},
    ]
    study = check_study({"name": "s", "seeds": list(seeds), "arms": arms, **spec})
    return StudyView(StudyRow("s1", study.model_dump(by_alias=True, mode="json"), StudyState.QUEUED, NOW))


def tell(view: StudyView, kind: str, **body: Any) -> None:
    view.apply(Logged(view.seq + 1, NOW, event(kind, **body)))


def end(view: StudyView, trial: str, x: float, y: float, how: str = "trial_finished") -> None:
    tell(view, "report", trial=trial, metrics={"epoch": 1, "seconds": 2.0, "i_xz_bits": x, "i_zy_bits": y})
    tell(view, how, trial=trial, **({"reason": "a reason"} if how == "trial_failed" else {}))


def test_a_seed_whose_trials_all_failed_or_collapsed_counts_as_nothing() -> None:
    view = view_of()
    *grid, mib_0, mib_1 = view.trials
    for trial in grid:
        end(view, trial, 2.0, 1.0)
    end(view, mib_0, 2.0, 1.0)
    end(view, mib_1, 0.0, 0.0)  # collapsed
    mib = comparison_answer(view).arms[1]
    assert mib.hypervolume.by_seed == {"0": 30.0, "1": 0.0}
    assert (mib.counts.collapsed, mib.counts.failed) == (1, 0)
    assert (mib.training_seconds, mib.trained_trials) == (4.0, 2)


def test_a_seed_that_still_trains_is_missing_not_nothing() -> None:
    view = view_of()
    *_, mib_0, mib_1 = view.trials
    end(view, mib_0, 0.0, 0.0, how="trial_failed")
    tell(view, "trial_started", trial=mib_1)
    assert comparison_answer(view).arms[1].hypervolume.by_seed == {"0": 0.0}


def test_a_comparison_is_computed_once_for_each_state_of_the_log() -> None:
    view = view_of()
    first = compared(view)
    assert compared(view) is first
    end(view, next(iter(view.trials)), 2.0, 1.0)
    assert compared(view) is not first
    assert compared(view).arms[0].trained_trials == 1


def test_an_overlay_has_the_arms_of_all_under_the_names_of_their_studies() -> None:
    one, two = view_of(), view_of(name="other", seeds=(1, 2))
    two.id = "s2"
    for view in (one, two):
        for trial in view.trials:
            end(view, trial, 2.0, 1.0)
    both = Overlay([one, two])
    assert [arm.name for arm in both.study.arms] == ["s · manual β", "s · MIB", "other · manual β", "other · MIB"]
    assert both.study.seeds == [0, 1, 2]
    answer = comparison_answer(both)
    assert [arm.hypervolume.seeds for arm in answer.arms] == [2, 2, 2, 2]
    assert answer.baseline == "s · manual β"
    assert {trial.partition("/")[0] for trial in both.trials} == {"s1", "s2"}
    assert next(iter(one.trials.values())).planned.arm == "manual β", "the studies themselves stay as they are"


def test_studies_of_different_data_are_shown_but_not_compared() -> None:
    one, two = view_of(), view_of(data={"name": "fashion-mnist"})
    two.id = "s2"
    for view in (one, two):
        for trial in view.trials:
            end(view, trial, 2.0, 1.0)
    answer = comparison_answer(Overlay([one, two]))
    assert answer.pairs == [] and answer.verdict.startswith("These studies were measured on different data")
    assert [arm.hypervolume.mean for arm in answer.arms] == [30.0] * 4


def over(interval: OverSeeds) -> Interval:
    return Interval(interval.mean, interval.half_width, interval.seeds, interval.low, interval.high)


def test_an_overlay_reports_what_any_of_its_studies_does() -> None:
    attacked = view_of(evaluation={"attacks": [{"name": "pgd"}]})
    estimated = view_of(evaluation={"estimators": ["infonce", "mine"]})
    metrics = Overlay([attacked, estimated]).metrics
    assert {"robust_pgd", "i_xz_mine_bits", "accuracy"} <= set(metrics)
    assert len(metrics) == len(set(metrics))


def test_a_cancelled_grid_is_not_tested_against_what_ran() -> None:
    view = view_of()
    first, *_, mib_0, mib_1 = view.trials
    for trial, bits in ((first, 1.0), (mib_0, 2.0), (mib_1, 2.1)):
        end(view, trial, 2.0, bits)
    tell(view, "study_cancelled")
    answer = comparison_answer(view)
    (pair,) = answer.pairs
    assert (pair.whole, pair.shown, pair.p_value) == (False, False, None)
    assert "not all trials have ended: no test" in answer.verdict


def test_studies_of_one_name_are_told_apart_by_their_ids() -> None:
    one, two = view_of(), view_of()
    two.id = "s2"
    assert [arm.name for arm in Overlay([one, two]).study.arms][0::2] == ["s (s1) · manual β", "s (s2) · manual β"]


def test_an_answer_says_what_the_comparison_found_number_by_number() -> None:
    """Three seeds and three pairs, two of arms of as many points, so that no number equals its neighbour by chance."""
    arms = [
        {"name": "by hand", "weighting": {"name": "fixed", "beta": {"grid": [0.01, 0.1]}}},
        {"name": "MIB", "weighting": {"name": "mib", "mu": {"grid": [0.1, 0.2]}}},
        {"name": "STCH", "weighting": {"name": "stch", "mu": {"grid": [0.1, 0.2]}}},
        {"name": "uniform", "weighting": {"name": "uniform"}},
    ]
    view = view_of(seeds=(0, 1, 2), arms=arms)
    for i, trial in enumerate(view.trials):
        end(view, trial, 2.0 + 0.5 * i + 0.1 * (i % 4), 1.0 + 0.1 * i + 0.05 * (i * i % 7))
    comparison, answer = compared(view), comparison_answer(view)
    assert (answer.study, answer.state, answer.seeds) == ("s1", view.state, 3)
    assert (answer.baseline, answer.verdict) == (comparison.baseline, comparison.verdict)
    assert [(axis.metric, axis.goal, axis.reference, axis.chosen_by) for axis in answer.objectives] == [
        tuple(axis) for axis in comparison.objectives
    ]
    assert len(answer.arms) == 4 and len(answer.pairs) == 3
    for arm, known in zip(answer.arms, comparison.arms, strict=True):
        result, volume = known.result, arm.hypervolume
        assert over(volume) == result.hypervolume
        assert volume.all_seeds == result.hypervolume_all_seeds != volume.mean
        assert volume.by_seed == {str(seed): value for seed, value in result.by_seed.items()}
        assert (arm.best, arm.front_share, arm.on_front) == (result.best, result.front_share, result.on_front)
        assert (arm.automatic, arm.trained_trials) == (arm.name in ("MIB", "STCH"), known.trained_trials)
        assert (arm.training_seconds, arm.counts.finished) == (known.training_seconds, known.counts.finished)
        assert (over(arm.epsilon_over_seeds), over(arm.igd_plus_over_seeds)) == known.place.indicators
        assert (arm.epsilon, arm.igd_plus) == (arm.epsilon_over_seeds.mean, arm.igd_plus_over_seeds.mean)
        told = known.place.place
        for gap, spread in ((arm.distance, told.distance), *((arm.matched[m], told.matched[m]) for m in told.matched)):
            assert (gap.mean, gap.half_width, gap.seeds) == spread.told[:3]
            assert (gap.step.mean, gap.step.half_width, gap.step.seeds) == spread.step[:3]
            assert (gap.line.mean, gap.line.half_width, gap.line.seeds) == spread.line[:3]
        assert (arm.dominated, arm.beyond, arm.amounts_to) == (told.dominated, told.beyond, told.amounts_to)
        share = arm.dominated_over_seeds
        assert (share.mean, share.lower, share.upper, share.seeds) == told.domination and share.method == "wilson"
        sent = {key: (a.mean, a.half_width, a.seeds, a.lower, a.upper) for key, a in arm.amounts_to_over_seeds.items()}
        assert sent == {key: amount[:5] for key, amount in told.amounts.items()}
        ends = {key: [(a.mean, a.lower, a.upper) for a in own] for key, own in arm.lands_between.items()}
        assert ends == {key: [(a.mean, a.lower, a.upper) for a in own] for key, own in told.between.items()}
        assert {a.scale for a in arm.amounts_to_over_seeds.values()} <= {"log"}, "0.01 and 0.1 are powers"
        assert (arm.draws_front, arm.exact) == (known.place.draws_front, None)
        cost = (arm.cost.seconds, arm.cost.trials, arm.cost.mean, arm.cost.low, arm.cost.high)
        assert cost == known.cost
    for pair, by in zip(answer.pairs, comparison.pairs, strict=True):
        test, reach = by.paired, by.reach
        assert (pair.arm, pair.baseline, pair.shown, pair.whole) == (by.arm, by.baseline, by.shown, by.whole)
        assert over(pair.ratio) == test.ratio
        assert over(pair.difference) == test.difference
        assert (pair.p_value, pair.p_adjusted, pair.effect_size) == (test.p_value, by.p_adjusted, test.effect_size)
        assert over(pair.reach.seconds) == reach.seconds
        assert (pair.reach.trials, pair.reach.reached, pair.reach.of) == (reach.trials, reach.reached, reach.of)
        place = next(arm.place for arm in comparison.arms if arm.name == pair.arm)
        assert (pair.distance_p_value, pair.distance_p_adjusted) == (place.test.p_value, place.p_adjusted)
        assert pair.matched_p_adjusted == {metric: gap.p_adjusted for metric, gap in place.gaps.items()}
        assert pair.standing == place.standing is not None
        assert pair.standing_words == standing_words(place)
        assert (pair.words, pair.seeds) == (comparison.words[by.arm], 3)
    assert {arm.draws_front for arm in answer.arms} == {True, False}
    assert any(pair.p_adjusted != pair.p_value for pair in answer.pairs)
    *_, one = answer.pairs
    assert (one.arm, one.p_value, one.p_adjusted, one.effect_size, one.shown) == ("uniform", None, None, None, False)


def test_a_study_on_gaussian_data_is_held_against_the_exact_curve() -> None:
    correlations = [0.95, 0.8]
    view = view_of(seeds=(0, 1, 2), data={"name": "gaussian", "correlations": correlations})
    for i, (trial, own) in enumerate(view.trials.items()):
        rate = {0.01: 3.0, 0.1: 1.5}.get(own.planned.config.get("weighting.beta", 0.0), 2.2) + 0.01 * i
        under = 0.2 if own.planned.arm == "MIB" else 0.05
        end(view, trial, rate, gaussian_at_rate(correlations, rate) - under)
    answer = comparison_answer(view)
    grid, mib = (arm.exact for arm in answer.arms)
    assert grid is not None and mib is not None and grid.label == "exact curve"
    assert grid.matched["i_zy_bits"].mean == pytest.approx(-0.05, abs=1e-3)
    assert mib.matched["i_zy_bits"].mean == pytest.approx(-0.2, abs=1e-3)
    assert (mib.distance.mean or 0) < (grid.distance.mean or 0) < 0
    assert (grid.standing, mib.standing) == ("off", "off")
    assert "below the exact curve (off it, by more than 2 % of the objectives’ ranges)" in answer.verdict
    assert 0.01 < answer.arms[1].amounts_to["weighting.beta"] < 0.1


def test_a_named_baseline_is_what_others_are_measured_against() -> None:
    view = view_of(baseline="MIB")
    for i, trial in enumerate(view.trials):
        end(view, trial, 2.0 + i, 1.0 + 0.1 * i)
    answer = comparison_answer(view)
    assert (answer.baseline, [pair.arm for pair in answer.pairs]) == ("MIB", ["manual β"])
    other = view_of(name="other", baseline=None)
    other.id = "s2"
    assert Overlay([view, other]).study.baseline == "s · MIB", "of several studies the first one's"
    assert Overlay([other, view]).study.baseline is None


def test_a_named_baseline_without_a_result_leaves_nothing_to_measure_by() -> None:
    view = view_of(baseline="MIB")
    end(view, next(iter(view.trials)), 2.0, 1.0)
    answer = comparison_answer(view)
    assert (answer.baseline, answer.pairs) == (None, [])
    assert answer.verdict.startswith("So far: MIB, the baseline, has no result yet")
