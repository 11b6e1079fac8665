"""β sensitivity: a metric against a number that varies, other arms as bands."""

from __future__ import annotations

import math

import pytest

from service.contract.wire.errors import InvalidInput
from service.contract.wording.keys import key_label
from service.figures import figures_of
from service.figures.beta_sensitivity import controls, draw_sensitivity, figure, sensitivity_data
from service.figures.drawing.varied_parameters import numeric_keys
from service.figures.figure import Asked
from tests.service.studies import FIXED, MANUAL, MIB, accuracy, bottleneck_of, event, play, study_of, tell

HALF = 0.05 * 4.302652730 / math.sqrt(3)  # of 0.8, 0.85 and 0.9: Student's t of two degrees of freedom
SEARCH = {
    "name": "tuned",
    "weighting": {"name": "fixed", "beta": {"range": {"from": 1e-4, "to": 1.0, "scale": "log"}}},
    "search": {"name": "optuna", "sampler": "random", "trials": 3},
}


def test_the_metric_at_each_value_is_the_mean_over_seeds_with_its_interval() -> None:
    view = bottleneck_of(MANUAL, seeds=(0, 1, 2))
    for trial, value in zip(view.trials, (0.8, 0.9, 0.85, 0.7, 0.7), strict=False):
        play(view, trial, accuracy(value))
    data = sensitivity_data(view, None, None)
    low, middle = data.arms[0].levels
    assert (data.key, data.axis.metric) == ("weighting.beta", "accuracy")
    assert (low.value, middle.value) == (0.01, 0.1)
    assert low.metric.mean == pytest.approx(0.85) and low.metric.half_width == pytest.approx(HALF)
    assert middle.metric.mean == pytest.approx(0.7) and middle.metric.seeds == 2


def test_an_arm_without_the_number_is_a_band_of_its_best_configuration() -> None:
    mib = {"name": "MIB", "weighting": {"name": "mib", "mu": {"grid": [0.1, 0.2]}}}
    view = bottleneck_of(MANUAL, mib)
    for trial, value in zip([*view.trials][6:], (0.6, 0.6, 0.7, 0.9), strict=True):
        play(view, trial, accuracy(value))
    play(view, next(iter(view.trials)), accuracy(0.5))
    grid, other = sensitivity_data(view, None, None).arms
    assert grid.best is None and other.levels == []
    assert other.best is not None and (other.best.label, other.best.of) == ("μ 0.2", 2)
    assert other.best.mean.mean == pytest.approx(0.8)
    drawn = draw_sensitivity(sensitivity_data(view, None, None), "r")
    assert drawn["layout"]["meta"]["summary"] == "accuracy at best: manual β 0.500 at β 0.01; MIB 0.800."
    band = next(trace for trace in drawn["data"] if trace.get("fill"))
    assert band["y"] == [0.7, 0.7, 0.9, 0.9], "two seeds: their range"


TARGET = {"name": "target", "weighting": {"name": "target-rate", "rate_bits": {"grid": [2.0, 8.0]}}}


def weighed(accuracy: float, pred: float | None, info: float | None) -> list[dict[str, float | None]]:
    """An epoch at the start, and a last one with these weights."""
    first: dict[str, float | None] = {"accuracy": 0.1, "weight_pred": 1.0, "weight_info": 0.01}
    return [first, {"accuracy": accuracy, "weight_pred": pred, "weight_info": info}]


def test_a_rate_that_is_held_is_drawn_at_the_beta_that_held_it_not_where_it_started() -> None:
    view = bottleneck_of(MANUAL, TARGET)
    *grid, few_0, few_1, many_0, many_1 = view.trials
    for trial in grid:
        play(view, trial, accuracy(0.5))
    for trial, value, info in ((few_0, 0.6, 0.4), (few_1, 0.7, 0.1), (many_0, 0.8, 0.02), (many_1, 0.9, 0.02)):
        play(view, trial, weighed(value, 1.0, info))
    data = sensitivity_data(view, None, None)
    target = data.arms[1]
    assert [dot.value for dot in target.dots] == [0.4, 0.1, 0.02, 0.02], "the start was 0.01"
    assert [level.value for level in target.levels] == pytest.approx([0.02, 0.2]), "geometric means, one per rate"
    assert [level.metric.mean for level in target.levels] == pytest.approx([0.85, 0.65])
    meta = draw_sensitivity(data, "r")["layout"]["meta"]
    assert meta["summary"] == "accuracy at best: manual β 0.500 at β 1; target 0.850 at β 0.02."
    assert "β of target: its weights’ ratio in the last epoch" in meta["subtitle"]


def test_weights_that_find_themselves_are_drawn_where_they_ended() -> None:
    view = bottleneck_of(MANUAL, MIB, seeds=[0])
    *grid, mib = view.trials
    for trial in grid:
        play(view, trial, accuracy(0.5))
    play(view, mib, weighed(0.9, 0.5, 0.02))
    drawn = draw_sensitivity(sensitivity_data(view, None, None), "r")
    (trace,) = [trace for trace in drawn["data"] if trace["name"] == "MIB"]
    assert (trace["x"], trace["y"], trace["customdata"], trace["showlegend"]) == ([0.04], [0.9], [mib], True)


@pytest.mark.parametrize(("pred", "info"), [(None, None), (0.0, 1.0), (1.0, -0.5), (float("inf"), 1.0)])
def test_weights_that_amount_to_no_beta_are_a_band_with_no_mark_at_any(pred: float | None, info: float | None) -> None:
    view = bottleneck_of(MANUAL, MIB, seeds=[0])
    *grid, mib = view.trials
    for trial in grid:
        play(view, trial, accuracy(0.5))
    play(view, mib, weighed(0.9, pred, info))
    drawn = draw_sensitivity(sensitivity_data(view, None, None), "r")
    line, mark = (trace for trace in drawn["data"] if trace["name"] == "MIB")
    assert (line["mode"], line["x"], line["y"]) == ("lines", [0.01, 1.0], [0.9, 0.9])
    assert (mark["x"], mark["showlegend"]) == ([None], True), "a mark in the legend alone"


def test_equal_weights_are_a_beta_of_one() -> None:
    view = bottleneck_of(MANUAL, {"name": "equal", "weighting": {"name": "uniform"}})
    for trial in view.trials:
        play(view, trial, weighed(0.9, 1.0, 1.0))
    equal = sensitivity_data(view, None, None).arms[1]
    assert [(level.value, level.metric.seeds) for level in equal.levels] == [(1.0, 2)]


def test_of_a_metric_to_minimise_the_least_is_the_best() -> None:
    view = bottleneck_of(MANUAL, MIB, seeds=[0])
    for trial, rate in zip(view.trials, (30.0, 20.0, 10.0, 15.0), strict=True):
        play(view, trial, [{"i_xz_bits": rate}])
    meta = draw_sensitivity(sensitivity_data(view, None, "i_xz_bits"), "r")["layout"]["meta"]
    assert meta["summary"] == "I(X;Z) [bits] at best: manual β 10.0 at β 1; MIB 15.0."
    assert meta["subtitle"] == "one seed, no interval"


def test_seeds_are_averaged_over_the_other_numbers_first() -> None:
    weighting = {"name": "fixed", "beta": {"grid": [0.01, 0.1]}}
    arm = {"name": "two", "weighting": weighting, "training": {"learning_rate": {"grid": [0.001, 0.01]}}}
    view = bottleneck_of(arm)
    for trial in view.trials:
        planned = view.trials[trial].planned
        fast = planned.config["training.learning_rate"] == 0.01
        play(view, trial, accuracy(0.5 + 0.1 * planned.seed + 0.2 * fast))
    data = sensitivity_data(view, None, None)
    level = data.arms[0].levels[0]
    assert level.metric.seeds == 2 and level.metric.mean == pytest.approx(0.65)
    assert (level.metric.low, level.metric.high) == pytest.approx((0.6, 0.7)), "the spread is that of seeds"
    assert data.others and "mean over the other parameters" in draw_sensitivity(data, "r")["layout"]["meta"]["subtitle"]


def test_trials_of_a_search_are_points_of_their_own() -> None:
    view = bottleneck_of(SEARCH)
    for trial, beta in zip(view.trials, (0.5, 0.25), strict=False):
        tell(view, event("trial_started", trial=trial, config={"weighting.beta": beta}))
        tell(view, event("report", trial=trial, metrics={"epoch": 1, "accuracy": 1 - beta}))
    (arm,) = sensitivity_data(view, None, None).arms
    assert (arm.searched, arm.levels, [(dot.value, dot.metric) for dot in arm.dots]) == (
        True,
        [],
        [(0.5, 0.5), (0.25, 0.75)],
    )
    (trace,) = draw_sensitivity(sensitivity_data(view, None, None), "r")["data"]
    assert (trace["mode"], trace["customdata"]) == ("markers", [*view.trials][:2])


def test_many_values_have_an_area_in_place_of_bars() -> None:
    grid = {"from": 0.01, "to": 1.0, "count": 41, "scale": "log"}
    view = bottleneck_of({"name": "grid", "weighting": {"name": "fixed", "beta": {"grid": grid}}}, seeds=(0, 1, 2))
    for trial, planned in view.trials.items():
        play(view, trial, accuracy(0.5 + 0.01 * planned.planned.seed))
    area, single, means = draw_sensitivity(sensitivity_data(view, None, None), "r")["data"]
    assert area["fill"] == "toself" and len(area["x"]) == 82 and means["error_y"] == {"visible": False}
    assert area["y"][0] == pytest.approx(0.51 - HALF / 5, rel=1e-3)
    assert len(means["x"]) == 41 and single["customdata"] == [*view.trials]


def test_failed_trials_and_nulls_are_left_out_and_counted() -> None:
    view = bottleneck_of(MANUAL, seeds=[0])
    failed, null, running = view.trials
    play(view, failed, accuracy(0.9), end="trial_failed")
    play(view, null, accuracy(0.9, None))
    play(view, running, accuracy(0.4), end="")
    data = sensitivity_data(view, None, None)
    assert [(dot.value, dot.metric) for dot in data.arms[0].dots] == [(1.0, 0.4)]
    assert (data.failed, data.training) == (1, 1)


def test_a_value_of_0_has_no_place_on_a_log_axis() -> None:
    arm = {"name": "grid", "weighting": {"name": "fixed", "beta": {"grid": [0.0, 0.01, 1.0]}}}
    none = {"name": "none", "weighting": {"name": "fixed", "beta": 0.0}}
    view = bottleneck_of(arm, none, seeds=[0])
    for trial in view.trials:
        play(view, trial, accuracy(0.5))
    drawn = draw_sensitivity(sensitivity_data(view, None, None), "r")
    assert drawn["layout"]["xaxis"]["type"] == "log"
    assert drawn["layout"]["meta"]["subtitle"] == "one seed, no interval · 1 trial at β 0 not on the log axis"
    curve = next(t for t in drawn["data"] if t["name"] == "grid" and t["mode"] == "lines")
    assert curve["x"] == [0.01, 1.0]
    across = next(t for t in drawn["data"] if t["name"] == "none" and t["mode"] == "lines")
    assert (across["x"], across["y"]) == ([0.01, 1.0], [0.5, 0.5]), "an arm at 0 alone lies across"


def test_numbers_that_vary_within_an_arm_may_be_chosen() -> None:
    arm = {"name": "a", "weighting": {"name": "mib", "mu": {"grid": [0.1, 0.2]}, "automatic": {"grid": [True, False]}}}
    study = bottleneck_of(arm, MANUAL, SEARCH).study
    assert numeric_keys(study) == ["weighting.mu", "weighting.beta"], "on and off are no numbers"
    assert numeric_keys(study_of({"name": "grid", "weighting": FIXED}).study) == ["weighting.weights.right"]
    assert numeric_keys(bottleneck_of(MIB).study) == []
    assert "beta-sensitivity" not in figures_of(bottleneck_of(MIB))
    with pytest.raises(InvalidInput, match=r"x must be one of weighting\.mu, weighting\.beta, got"):
        figure(Asked(bottleneck_of(arm, MANUAL), "weighting.automatic"))


def test_mixtures_of_all_terms_vary_each_weight() -> None:
    view = study_of({"name": "mix", "weighting": {"name": "fixed", "simplex": 4}}, seeds=[0])
    assert numeric_keys(view.study) == ["weighting.weights.left", "weighting.weights.right"]
    for trial in view.trials:
        play(view, trial, accuracy(0.5))
    (arm,) = sensitivity_data(view, "weighting.weights.right", None).arms
    assert [level.value for level in arm.levels] == [0.0, 0.5, 1.0, 1.5, 2.0]


def test_the_controls_start_at_beta_and_accuracy() -> None:
    of, *against = controls(bottleneck_of({**MIB, "weighting": {"name": "mib", "mu": {"grid": [0.1, 0.2]}}}, MANUAL))
    assert (of.param, of.default) == ("y", "accuracy")
    names = [name for name, _ in of.options]
    assert "i_xz_bits" in names and "seconds" in names and not {"epoch", "weight_info", "test_examples"} & {*names}
    assert [(c.param, c.default, c.options) for c in against] == [
        ("x", "weighting.beta", [("weighting.mu", "μ"), ("weighting.beta", "β")])
    ]


@pytest.mark.parametrize(
    ("key", "label"),
    [
        ("weighting.beta", "β"),
        ("weighting.weights.random-labels", "weight of random-labels"),
        ("training.learning_rate", "learning rate"),
        ("weighting.beta_min", "β min"),
        ("weighting.mu", "μ"),
        ("model.mute", "mute"),
    ],
)
def test_a_number_has_a_name_to_read(key: str, label: str) -> None:
    assert key_label(key) == label
