"""What the figures of a study show, by value; drawing only as far as that Plotly takes it."""

from __future__ import annotations

import math

import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.contract.metrics import accuracies
from service.contract.wire.errors import InvalidInput
from service.figures import FIGURES, figures_of
from service.figures.accuracy_by_method import accuracy_data
from service.figures.balance import balance_data
from service.figures.convergence import convergence_data, remark
from service.figures.drawing.configurations import best_of
from service.figures.drawing.fronts import front_data
from service.figures.drawing.over_epochs import MOST_EPOCHS, MOST_PLOTS, band_of, spread_words, thinned
from service.figures.figure import Asked
from service.figures.pareto_front import draw_front
from service.figures.weight_paths import weights_data
from tests.service.studies import FIXED, accuracy, play, study_of, weights

T_95_THREE = 4.302652730  # Student's t, two degrees of freedom


# Which figures a study has


def test_a_multitask_study_has_what_its_metrics_allow() -> None:
    has = {"pareto-front", "accuracy-by-method", "convergence", "learning-curves", "weight-paths"}
    lacks = {"information-plane", "generalization-gap", "robustness", "balance", "beta-sensitivity"}
    found = set(figures_of(study_of()))
    assert has <= found and not lacks & found
    balanced = study_of(training={"balance": {"mode": "partial"}})
    assert set(figures_of(balanced)) == found | {"balance"}
    toy = study_of({"name": "t", "problem": {"name": "toy"}, "weighting": {"name": "uniform"}}, data={"name": "digits"})
    assert set(figures_of(toy)) == found - {"accuracy-by-method", "convergence"}
    grid = study_of({"name": "grid", "weighting": FIXED})
    assert "beta-sensitivity" in figures_of(grid)


def test_an_accuracy_is_one_of_the_test_split() -> None:
    names = ["accuracy", "accuracy_left", "train_accuracy", "robust_pgd", "robust_images", "loss_left"]
    assert accuracies(names) == ["accuracy", "accuracy_left", "robust_pgd"]


# Weight paths and balance


def test_a_weight_path_is_the_mean_over_seeds_with_its_interval() -> None:
    view = study_of(seeds=(0, 1, 2))
    for trial, weight in zip(view.trials, (1.0, 2.0, 3.0), strict=True):
        play(view, trial, weights(weight, 2.0))
    data = weights_data(view)
    band = data.arms[0].bands["weight_right"]
    assert data.metrics == ["weight_left", "weight_right"] and data.arms[0].spread == "interval"
    assert (band.epochs, band.middle, band.trials) == ([1, 2], [2.0, 2.0], [3, 3])
    half = T_95_THREE / math.sqrt(3)  # the standard deviation of 1, 2 and 3 is 1
    assert band.high == pytest.approx([2 + half, 2.0], rel=1e-3)
    assert band.low == pytest.approx([2 - half, 2.0], rel=1e-3)
    assert spread_words(data) == "3 seeds: mean, 95 % interval"


def test_one_seed_has_a_path_and_no_interval() -> None:
    view = study_of(seeds=[0])
    play(view, next(iter(view.trials)), weights(0.5))
    band = weights_data(view).arms[0].bands["weight_right"]
    assert (band.middle, band.low, band.high, band.trials) == ([0.5], [None], [None], [1])
    assert spread_words(weights_data(view)) == "one seed, no interval"


def test_a_grid_shows_its_median_and_range() -> None:
    view = study_of({"name": "grid", "weighting": FIXED}, {"name": "a", "weighting": {"name": "uniform"}}, seeds=[0])
    low, high, automatic = view.trials
    play(view, low, weights(0.5))
    play(view, high, weights(2.0))
    play(view, automatic, weights(1.0))
    data = weights_data(view)
    band = data.arms[0].bands["weight_right"]
    assert (data.arms[0].spread, band.middle, band.low, band.high) == ("range", [1.25], [0.5], [2.0])
    assert data.arms[1].spread == "interval"
    assert spread_words(data) == "one seed, no interval · grid: median, range of 2 trials"


def test_what_was_not_finite_is_left_out_of_a_path() -> None:
    """It comes as null: who sends cleans it."""
    view = study_of()
    first, second = view.trials
    play(view, first, weights(1.0, None, 3.0))
    play(view, second, weights(1.0, 2.0, None), end="trial_failed")
    band = weights_data(view).arms[0].bands["weight_right"]
    assert (band.epochs, band.middle, band.trials) == ([1, 2, 3], [1.0, 2.0, 3.0], [2, 1, 1])


def test_an_epoch_told_twice_counts_as_told_last() -> None:
    view = study_of(seeds=[0])
    play(view, next(iter(view.trials)), [{"epoch": 1, "weight_right": 1.0}, {"epoch": 1, "weight_right": 4.0}])
    band = weights_data(view).arms[0].bands["weight_right"]
    assert (band.epochs, band.middle) == ([1], [4.0])


def test_without_a_report_there_is_no_path() -> None:
    data = weights_data(study_of())
    assert [arm.bands for arm in data.arms] == [{}] and spread_words(data) == ""


def test_of_many_terms_the_first_are_shown_and_the_rest_counted() -> None:
    tasks = ["smiling", "young", "male", "bald", "bangs", "blurry", "goatee", "chubby"]
    arm = {"name": "a", "weighting": {"name": "uniform"}}
    problem = {"name": "multitask", "main": tasks[0], "auxiliaries": tasks[1:]}
    data = weights_data(study_of({**arm, "problem": problem}, data={"name": "celeba"}))
    assert data.metrics == [f"weight_{task}" for task in tasks[:MOST_PLOTS]] and data.left_out == 2


@given(st.lists(st.dictionaries(st.integers(1, 5), st.floats(-1e3, 1e3), max_size=5), max_size=6))
def test_the_middle_lies_within_the_spread(paths: list[dict[int, float]]) -> None:
    bands = [band_of(paths, "interval"), band_of(paths, "range")]
    for band in bands:
        assert len(band.middle) == len(set().union(*paths))
        for middle, low, high, trials in zip(band.middle, band.low, band.high, band.trials, strict=True):
            assert (low is None) == (high is None) == (trials == 1)
            if low is not None and high is not None:
                assert low <= middle <= high


@given(st.integers(0, 5_000))
def test_thinned_epochs_keep_both_ends_and_stay_few(count: int) -> None:
    epochs = list(range(1, count + 1))
    kept = thinned(epochs)
    assert len(kept) <= MOST_EPOCHS + 2 and set(kept) <= set(epochs)
    assert kept == epochs if count <= MOST_EPOCHS else (kept[0], kept[-1]) == (1, count)


def test_balance_is_shown_per_layer_of_the_arms_that_report_it() -> None:
    arms = [
        {"name": "plain", "weighting": {"name": "uniform"}},
        {"name": "balanced", "weighting": {"name": "uniform"}, "training": {"balance": {"mode": "partial"}}},
    ]
    view = study_of(*arms, seeds=[0])
    plain, balanced = view.trials
    layer = balance_data(view).metrics[0]
    play(view, plain, [{"accuracy": 0.5}])
    play(view, balanced, [{layer: 2.0}, {layer: 0.5}])
    data = balance_data(view)
    assert data.arms[0].bands == {}
    assert list(data.arms[1].bands) == [layer] and data.arms[1].bands[layer].middle == [2.0, 0.5]


# Accuracy by method


def test_accuracy_is_the_mean_over_seeds_with_its_interval() -> None:
    view = study_of(seeds=(0, 1, 2))
    last = dict(zip(view.trials, (0.8, 0.85, 0.9), strict=True))
    for trial, value in last.items():
        play(view, trial, accuracy(0.1, value))
    arm = accuracy_data(view, None).arms[0]
    assert arm.mean.mean == pytest.approx(0.85)
    assert arm.mean.half_width == pytest.approx(0.05 * T_95_THREE / math.sqrt(3))
    assert (arm.values, arm.of, arm.label) == (last, 1, "")


def test_a_grid_is_shown_by_its_best_configuration() -> None:
    view = study_of({"name": "grid", "weighting": FIXED})
    low_0, low_1, high_0, high_1 = view.trials
    for trial, value in ((low_0, 0.9), (low_1, 0.5), (high_0, 0.8), (high_1, 0.8)):
        play(view, trial, accuracy(value))
    best = best_of(view, "grid", "accuracy")
    assert (best.trials, best.of, best.label) == ([high_0, high_1], 2, "weight of right 2")
    assert best.mean.mean == pytest.approx(0.8), "the best single seed is in the other configuration"


def test_fewer_seeds_never_win_against_more() -> None:
    view = study_of({"name": "grid", "weighting": FIXED})
    low_0, low_1, high_0, _ = view.trials
    for trial, value in ((low_0, 0.5), (low_1, 0.5), (high_0, 0.99)):
        play(view, trial, accuracy(value))
    assert best_of(view, "grid", "accuracy").trials == [low_0, low_1]


def test_of_equal_configurations_the_first_is_shown() -> None:
    view = study_of({"name": "grid", "weighting": FIXED}, seeds=[0])
    for trial in view.trials:
        play(view, trial, accuracy(0.7))
    best = best_of(view, "grid", "accuracy")
    assert (best.label, best.of, best.mean.half_width) == ("weight of right 0.5", 2, None)


def test_failed_trials_and_nulls_have_no_accuracy() -> None:
    view = study_of(seeds=[0, 1, 2])
    failed, null, good = view.trials
    play(view, failed, accuracy(0.99), end="trial_failed")
    play(view, null, accuracy(0.9, None))
    play(view, good, accuracy(0.6), end="")
    data = accuracy_data(view, None)
    assert data.arms[0].values == {good: 0.6}
    assert (data.failed, data.training) == (1, 1)


def test_any_accuracy_may_be_chosen_and_nothing_else() -> None:
    view = study_of(seeds=[0])
    play(view, next(iter(view.trials)), [{"accuracy": 0.9, "accuracy_right": 0.4}])
    assert accuracy_data(view, None).metric == "accuracy"
    assert accuracy_data(view, "accuracy_right").arms[0].mean.mean == 0.4
    for wrong in ("loss_left", "colour", "epoch"):
        with pytest.raises(InvalidInput, match=wrong):
            accuracy_data(view, wrong)


def test_an_arm_without_results_has_an_empty_row() -> None:
    data = accuracy_data(study_of(), None)
    assert [(arm.arm, arm.of, arm.values, arm.mean.mean) for arm in data.arms] == [("a", 0, {}, None)]


# Convergence


def test_convergence_is_the_first_epoch_at_the_threshold() -> None:
    view = study_of()
    first, second = view.trials
    play(view, first, accuracy(0.5, 0.8, 0.7, 0.9))
    play(view, second, accuracy(0.5, None, 0.7, 0.8))
    arm = convergence_data(view, "0.8", None).arms[0]
    assert arm.reached == {first: 2, second: 4}
    assert (arm.mean.mean, arm.mean.half_width, arm.mean.low, arm.mean.high) == (3, None, 2, 4)
    assert remark(arm) == ""


def test_the_threshold_is_95_percent_of_the_best_arms_mean() -> None:
    view = study_of(*({"name": name, "weighting": {"name": "uniform"}} for name in "ab"), seeds=[0])
    a, b = view.trials
    play(view, a, accuracy(0.6, 0.76, 0.8))
    play(view, b, accuracy(0.1, 0.2, 0.3))
    data = convergence_data(view, None, None)
    assert data.threshold == pytest.approx(0.76) and not data.given
    assert [arm.reached for arm in data.arms] == [{a: 2}, {}]


def test_trials_that_never_reach_it_are_counted_and_take_the_mean_away() -> None:
    view = study_of(seeds=[0, 1, 2, 3, 4])
    good, low, failed, running, _planned = view.trials
    play(view, good, accuracy(0.9))
    play(view, low, accuracy(0.3))
    play(view, failed, [], end="trial_failed")
    play(view, running, accuracy(0.4), end="")
    arm = convergence_data(view, "0.5", None).arms[0]
    assert (arm.reached, arm.never, arm.pending) == ({good: 1}, 2, 1)
    assert remark(arm) == "never: 2 of 4, not yet: 1 of 4"
    assert arm.mean.mean is None, "a mean over those that made it would flatter the arm"


def test_an_arm_whose_trials_all_failed_never_reaches_it() -> None:
    view = study_of()
    for trial in view.trials:
        play(view, trial, accuracy(0.2), end="trial_failed")
    assert remark(convergence_data(view, "0.5", None).arms[0]) == "never: 2 of 2"


def test_nobody_reaching_it_is_said() -> None:
    view = study_of(seeds=[0])
    play(view, next(iter(view.trials)), accuracy(0.5, 0.6))
    assert remark(convergence_data(view, "0.99", None).arms[0]) == "never: 1 of 1"
    drawn = FIGURES["convergence"].build(Asked(view, "0.99"))
    assert drawn["layout"]["meta"]["empty"] == "No trial has reached accuracy 0.99."


@pytest.mark.parametrize("x", ["high", "0", "-1", "1.01", "nan", "inf", ""])
def test_a_threshold_is_a_number_above_0_and_at_most_1(x: str) -> None:
    with pytest.raises(InvalidInput, match="x must be an accuracy above 0 and at most 1"):
        convergence_data(study_of(), x, None)


# Task against task


def test_a_front_of_two_accuracies_is_stepped_towards_what_both_reach() -> None:
    view = study_of(seeds=[0, 1, 2, 3])
    points = [(0.9, 0.5), (0.6, 0.8), (0.7, 0.7), (0.6, 0.6)]
    for trial, (left, right) in zip(view.trials, points, strict=True):
        play(view, trial, [{"accuracy_left": left, "accuracy_right": right}])
    data = front_data(view, None, None)
    assert [(axis.metric, axis.goal) for axis in data.axes] == [
        ("accuracy_left", "maximize"),
        ("accuracy_right", "maximize"),
    ]
    arm = data.arms[0]
    assert [point.values for point in arm.front] == [(0.6, 0.8), (0.7, 0.7), (0.9, 0.5)]
    assert [point.values for point in arm.dominated] == [(0.6, 0.6)]
    assert arm.hypervolume == pytest.approx((0.9 * 0.5 + 0.6 * 0.8 + 0.7 * 0.7 + 0.6 * 0.6) / 4), "mean over seeds"
    stepped = next(trace for trace in draw_front(data, "r")["data"] if trace["mode"] == "lines+markers")
    assert stepped["line"]["shape"] == "vh", "left of (0.7, 0.7) the front has its height: down first, then across"
    assert data.truth == []


def test_a_single_point_is_a_front_without_a_step() -> None:
    view = study_of(seeds=[0])
    play(view, next(iter(view.trials)), [{"accuracy_left": 0.5, "accuracy_right": 0.5}])
    traces = draw_front(front_data(view, None, None), "r")["data"]
    assert [(len(trace["x"]), trace["mode"]) for trace in traces] == [(0, "markers"), (1, "markers")]


# Drawing


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("reports", [0, 1, 3])
@pytest.mark.parametrize("arms", [1, 9])
def test_every_figure_is_valid_plotly(name: str, reports: int, arms: int) -> None:
    uniform = [{"name": f"arm {i}", "weighting": {"name": "uniform"}} for i in range(arms - 1)]
    view = study_of(
        {"name": "a grid with a very long name indeed", "weighting": FIXED}, *uniform, training={"balance": {}}
    )
    for trial in view.trials:
        steps: list[dict[str, float | None]] = [
            {"accuracy": 0.3 * i, "weight_left": 1.0, "weight_right": 10.0**i, "balance_code": 0.0}
            for i in range(reports)
        ]
        play(view, trial, steps)
    drawn = FIGURES[name].build(Asked(view))
    go.Figure(drawn)
    assert drawn["layout"]["meta"]["subtitle"] or not reports
    assert all("title" in axis for key, axis in drawn["layout"].items() if key.startswith(("xaxis", "yaxis")))
