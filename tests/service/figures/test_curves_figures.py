"""Learning curves and the generalisation gap, by value."""

from __future__ import annotations

import math

import pytest

from service.contract.wire.errors import InvalidInput
from service.figures import figures_of
from service.figures.figure import Asked
from service.figures.generalization_gap import draw_gap, gap_data
from service.figures.learning_curves import controls, curves_data, draw_curves, figure
from tests.service.studies import MANUAL, MIB, accuracy, bottleneck_of, play, study_of

T_95_THREE = 4.302652730  # Student's t, two degrees of freedom
NONE = {"name": "none", "problem": {"name": "bottleneck", "rate": "none"}, "weighting": {"name": "fixed", "beta": 0.0}}
GRID = {"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": [0.01, 0.1]}}}


def gap(rate: float | None, value: float, clean: float = 0.9) -> list[dict[str, float | None]]:
    return [{"i_xz_bits": rate, "generalization_gap": value, "accuracy": clean}]


# Learning curves


def test_a_curve_is_that_of_the_best_configuration_mean_over_seeds() -> None:
    view = bottleneck_of(GRID, seeds=(0, 1, 2))
    low, high = [(0.1, 0.4)] * 3, [(0.1, 0.5), (0.3, 0.7), (0.5, 0.9)]
    for trial, values in zip(view.trials, low + high, strict=True):
        play(view, trial, accuracy(*values))
    data = curves_data(view, None, None)
    band = data.test.arms[0].bands["accuracy"]
    assert (band.epochs, band.trials) == ([1, 2], [3, 3]) and band.middle == pytest.approx([0.3, 0.7])
    assert band.high[0] == pytest.approx(0.3 + 0.2 * T_95_THREE / math.sqrt(3), rel=1e-3)
    assert data.chosen
    shade = draw_curves(data, "r")["data"][0]
    assert min(shade["y"]) == 0 and max(shade["y"]) == 1, "the interval is drawn as far as an accuracy goes"


def test_the_best_of_a_metric_to_minimise_is_the_least() -> None:
    view = bottleneck_of(GRID, seeds=[0])
    for trial, rates in zip(view.trials, ((9.0, 3.0), (4.0, 5.0)), strict=True):
        play(view, trial, [{"i_xz_bits": rate} for rate in rates])
    assert curves_data(view, None, "i_xz_bits").test.arms[0].bands["i_xz_bits"].middle == [9, 3]


def test_all_configurations_are_a_median_and_a_range() -> None:
    view = bottleneck_of(MANUAL, MIB, seeds=[0])
    for trial, value in zip(view.trials, (0.2, 0.3, 0.9, 0.5), strict=True):
        play(view, trial, accuracy(value))
    grid, mib = curves_data(view, "all", None).test.arms
    band = grid.bands["accuracy"]
    assert (grid.spread, band.middle, band.low, band.high) == ("range", [0.3], [0.2], [0.9])
    assert mib.spread == "interval"


def test_train_accuracy_is_dashed_beside_accuracy_and_nothing_else() -> None:
    view = bottleneck_of(GRID, seeds=[0])
    for trial, value in zip(view.trials, (0.5, 0.8), strict=True):
        play(view, trial, [{"accuracy": value, "train_accuracy": value + 0.1, "i_xz_bits": 3.0}])
    data = curves_data(view, None, None)
    assert data.train["manual β"].middle == [pytest.approx(0.9)], "of the configuration that is best on the test split"
    dashed = [t for t in draw_curves(data, "r")["data"] if t.get("line", {}).get("dash") == "dash"]
    assert [(t["x"], t["y"], t["showlegend"]) for t in dashed] == [([1], [pytest.approx(0.9)], False)]
    assert curves_data(view, None, "i_xz_bits").train == {}
    assert curves_data(view, "all", None).train["manual β"].middle == [pytest.approx(0.75)]


def test_a_study_without_accuracy_shows_its_second_objective() -> None:
    toy = study_of({"name": "t", "problem": {"name": "toy"}, "weighting": {"name": "uniform"}}, data={"name": "digits"})
    assert curves_data(toy, None, None).metric == "f2"


def test_the_choices_are_what_has_a_path() -> None:
    of, show = controls(bottleneck_of(evaluation={"attacks": [{"name": "pgd"}]}))
    names = [name for name, _ in of.options]
    assert {"accuracy", "loss_info", "weight_info"} <= {*names}
    assert not {"epoch", "test_examples", "robust_images", "robust_pgd", "i_xz_bits_stderr"} & {*names}
    often = controls(bottleneck_of(evaluation={"attacks": [{"name": "pgd"}], "attack_every": 2}))[0]
    assert "robust_pgd" in [name for name, _ in often.options]
    assert (show.param, [value for value, _ in show.options], show.default) == ("x", ["best", "all"], "best")
    with pytest.raises(InvalidInput, match="x must be one of best, all, got 'worst'"):
        figure(Asked(bottleneck_of(), "worst"))


def test_the_summary_says_where_each_arm_stands() -> None:
    view = bottleneck_of(MIB, seeds=[0])
    play(view, next(iter(view.trials)), accuracy(0.1, 0.75))
    meta = figure(Asked(view))["layout"]["meta"]
    assert meta["summary"] == "accuracy: MIB 0.750 at epoch 2." and meta["subtitle"] == "one seed, no interval"


# Generalisation gap


def test_the_gap_is_shown_against_the_rate_per_trial_and_configuration() -> None:
    view = bottleneck_of(GRID)
    for trial, (rate, value) in zip(view.trials, ((10, 0.1), (12, 0.3), (4, 0.0), (4, 0.0)), strict=True):
        play(view, trial, gap(rate, value))
    first, second = gap_data(view).arms[0].configurations
    assert (first.label, first.rate.mean) == ("β 0.01", 11) and first.gap.mean == pytest.approx(0.2)
    assert (first.rate.low, first.rate.high, first.gap.low, first.gap.high) == (10, 12, 0.1, 0.3)
    assert [(dot.trial, dot.rate, dot.gap) for dot in second.dots] == [(t, 4, 0) for t in [*view.trials][2:]]
    drawn = draw_gap(gap_data(view), "r")
    assert drawn["layout"]["meta"]["summary"] == "Train minus test accuracy: manual β 0 to 0.200."
    single, means = drawn["data"]
    assert single["customdata"] == [*view.trials] and (means["x"], means["y"]) == ([11, 4], [0.2, 0])
    assert means["error_y"]["array"] == [pytest.approx(0.1), 0], "two seeds: their range"


def test_many_configurations_have_no_bars_and_the_subtitle_says_so() -> None:
    grid = {"from": 0.01, "to": 1.0, "count": 41, "scale": "log"}
    view = bottleneck_of({"name": "grid", "weighting": {"name": "fixed", "beta": {"grid": grid}}}, seeds=(0, 1, 2))
    for trial in view.trials:
        play(view, trial, gap(5.0, 0.1))
    drawn = draw_gap(gap_data(view), "r")
    assert "error_y" not in drawn["data"][1]
    assert "95 % interval where an arm has at most 40" in drawn["layout"]["meta"]["subtitle"]


def test_an_arm_without_a_rate_lies_across() -> None:
    view = bottleneck_of(MIB, NONE, seeds=[0])
    mib, none = view.trials
    play(view, mib, gap(5.0, 0.1))
    play(view, none, gap(None, 0.3))
    data = gap_data(view)
    assert data.has_rates and data.arms[1].fallback is not None and data.arms[1].fallback.gap.mean == 0.3
    across = next(t for t in draw_gap(data, "r")["data"] if t["name"] == "none" and t["mode"] == "lines")
    assert across["y"] == [0.3, 0.3]


def test_where_no_arm_has_a_rate_there_are_rows_of_the_most_accurate_configuration() -> None:
    arm = {**NONE, "training": {"learning_rate": {"grid": [0.001, 0.01]}}}
    view = bottleneck_of(arm, seeds=[0])
    for trial, clean, value in zip(view.trials, (0.7, 0.8), (0.01, 0.05), strict=True):
        play(view, trial, gap(None, value, clean))
    data = gap_data(view)
    drawn = draw_gap(data, "r")
    assert not data.has_rates and drawn["data"][0]["x"] == [0.05]
    assert drawn["layout"]["yaxis"]["ticktext"] == ["none<br>best of 2"]


def test_failed_trials_have_no_gap_and_collapsed_ones_lie_at_the_left() -> None:
    view = bottleneck_of(MIB, seeds=[0, 1])
    failed, collapsed = view.trials
    play(view, failed, gap(3.0, 0.2), end="trial_failed")
    play(view, collapsed, gap(0.0, 0.0))
    data = gap_data(view)
    (only,) = data.arms[0].configurations
    assert [(dot.trial, dot.rate) for dot in only.dots] == [(collapsed, 0.01)] and data.failed == 1


def test_only_studies_with_a_train_accuracy_have_the_gap() -> None:
    assert "generalization-gap" in figures_of(bottleneck_of())
    assert "generalization-gap" not in figures_of(study_of())
