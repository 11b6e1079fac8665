"""The Pareto front of two and three metrics, by value: ties, duplicates, one point, none, and far too many."""

from __future__ import annotations

import json
import math

import pytest

from service.analysis import Point
from service.contract.wire.errors import InvalidInput
from service.figures.drawing.fronts import MOST_DOMINATED, front_data, subtitle_of, summary_of, thinned
from service.figures.drawing.shades import log_shares, pale, shading_of
from service.figures.figure import Asked
from service.figures.pareto_front import FIGURE, controls, draw_front
from service.views.fold import StudyView
from tests.service.studies import MANUAL, MIB, bits, bottleneck_of, play

THREE = [
    {"metric": "i_xz_bits", "goal": "minimize"},
    {"metric": "i_zy_bits", "goal": "maximize"},
    {"metric": "accuracy", "goal": "maximize"},
]


def at(*places: tuple[float | None, float | None]) -> StudyView:
    """A study of one arm whose trials ended there."""
    view = bottleneck_of(MIB, seeds=list(range(max(1, len(places)))))
    for trial, place in zip(view.trials, places, strict=False):
        play(view, trial, bits(place))
    return view


def front_of(view: StudyView) -> tuple[list[tuple[float, ...]], list[tuple[float, ...]]]:
    arm = front_data(view, None, None).arms[0]
    return [point.values for point in arm.front], [point.values for point in arm.dominated]


def test_of_trials_equal_in_one_metric_the_better_in_the_other_is_on_the_front() -> None:
    assert front_of(at((2, 1), (2, 2), (3, 2))) == ([(2, 2)], [(2, 1), (3, 2)])


def test_equal_trials_are_all_on_the_front() -> None:
    assert front_of(at((2, 1), (2, 1), (4, 3))) == ([(2, 1), (2, 1), (4, 3)], [])


def test_one_trial_is_a_front() -> None:
    view = at((2, 1))
    assert front_of(view) == ([(2, 1)], [])
    assert front_data(view, None, None).arms[0].hypervolume == pytest.approx((32 - 2) * 1)


def test_no_trial_is_no_front() -> None:
    view = at()
    data = front_data(view, None, None)
    assert front_of(view) == ([], []) and data.arms[0].hypervolume is None and summary_of(data) == ""


def test_what_is_not_finite_is_on_no_front() -> None:
    places = [(math.nan, 9.0), (1.0, math.inf), (None, 3.0), (-math.inf, 1.0), (2.0, 1.0)]
    assert front_of(at(*places)) == ([(2, 1)], [])


def test_collapsed_and_failed_trials_are_on_no_front() -> None:
    view = at((0.01, 0.0), (5, 1))
    failed = bottleneck_of(MIB)
    play(failed, next(iter(failed.trials)), bits((5, 1)), end="trial_failed")
    assert front_of(view) == ([(5, 1)], []) and front_of(failed) == ([], [])


def test_the_front_says_which_way_is_better_and_what_it_measures_from() -> None:
    view = at((2, 1), (4, 3), (5, 2))
    data = front_data(view, None, None)
    words = (
        "less I(X;Z) and more I(Z;Y) is better · 3 trials · reference point (32, 0)"
        " · chosen on the test split itself, which flatters arms with many trials"
    )
    assert subtitle_of(data) == words
    # Of the seeds 30·1, 28·3 and 27·2.
    assert summary_of(data) == "Hypervolume, mean over seeds: MIB 56.0. Not dominated within the arm: MIB 2."


# Lightness


def test_shares_are_even_in_equal_ratios() -> None:
    assert log_shares({"a": 0.01, "b": 0.1, "c": 1.0, "d": 0.0}) == {"a": 0.0, "b": 0.5, "c": 1.0, "d": 0.0}
    assert log_shares({"a": 3.0, "b": 3.0}) == {"a": 0.0, "b": 0.0} and log_shares({}) == {}


def test_pale_is_mixed_with_white() -> None:
    assert (pale("#000000", 0.5), pale("#0072B2", 0.0), pale("#0072B2", 1.0)) == ("#808080", "#0072b2", "#ffffff")


def test_beta_is_shown_before_other_numbers_and_an_automatic_arm_has_none() -> None:
    rates = {"learning_rate": {"grid": [1e-3, 1e-2]}}
    view = bottleneck_of({**MANUAL, "training": rates}, {**MIB, "training": rates}, {**MIB, "name": "plain"}, seeds=[0])
    manual, automatic = shading_of(view, "manual β"), shading_of(view, "MIB")
    assert manual is not None and manual.label == "β" and list(manual.shares.values()) == [0, 0, 0.5, 0.5, 1, 1]
    assert automatic is not None and automatic.label == "learning rate"
    assert shading_of(view, "plain") is None


def test_beta_is_the_shade_wherever_it_stands_among_the_numbers_of_an_arm() -> None:
    """The rate to hold comes before β in the study, and in every trial's configuration."""
    both = {"name": "target-rate", "rate_bits": {"grid": [1.0, 8.0]}, "beta": {"grid": [0.1, 1.0]}}
    rates = {"name": "target-rate", "rate_bits": {"grid": [1.0, 8.0]}, "speed": {"grid": [0.1, 0.2]}}
    view = bottleneck_of({"name": "both", "weighting": both}, {"name": "rates", "weighting": rates}, seeds=[0])
    by_beta, by_rate = shading_of(view, "both"), shading_of(view, "rates")
    assert by_beta is not None and by_rate is not None
    assert (by_beta.label, list(by_beta.shares.values())) == ("β", [0.0, 1.0, 0.0, 1.0])
    assert (by_rate.label, list(by_rate.shares.values())) == ("rate bits", [0.0, 0.0, 1.0, 1.0])


def test_a_grid_on_the_front_is_pale_where_beta_is_small() -> None:
    view = bottleneck_of(MANUAL, seeds=[0])
    for i, trial in enumerate(view.trials):
        play(view, trial, bits((9 - 2 * i, 3 - i)))
    drawn = draw_front(front_data(view, None, None), "r")
    front = next(trace for trace in drawn["data"] if trace["mode"] == "lines+markers" and trace.get("customdata"))
    assert front["customdata"] == list(view.trials)[::-1] and front["marker"]["color"] == [1.0, 0.5, 0.0]
    assert drawn["layout"]["meta"]["subtitle"].count(" · paler: smaller β · one seed · ") == 1


# Three metrics


def three_of(*places: tuple[float, float, float]) -> StudyView:
    view = bottleneck_of(MIB, seeds=list(range(len(places))), objectives=THREE)
    for trial, (x, y, z) in zip(view.trials, places, strict=True):
        play(view, trial, [{"i_xz_bits": x, "i_zy_bits": y, "accuracy": z}])
    return view


def test_a_trial_that_is_best_in_the_third_metric_is_on_the_front_of_three() -> None:
    view = three_of((2, 2, 0.5), (3, 1, 0.9), (3, 1, 0.4))
    flat, deep = front_data(view, None, None, "none").arms[0], front_data(view, None, None, None).arms[0]
    assert [point.values for point in flat.front] == [(2, 2)]
    assert [point.values for point in deep.front] == [(2, 2, 0.5), (3, 1, 0.9)]
    assert [point.values for point in deep.dominated] == [(3, 1, 0.4)]
    assert deep.hypervolume == pytest.approx((30 * 2 * 0.5 + 29 * 1 * 0.9 + 29 * 1 * 0.4) / 3)


def test_the_third_objective_is_shown_in_space_unless_none_is_asked_for() -> None:
    view = three_of((2, 2, 0.5), (3, 1, 0.9))
    deep, flat = FIGURE.build(Asked(view)), FIGURE.build(Asked(view, z="none"))
    assert {trace["type"] for trace in deep["data"]} == {"scatter3d"} and "xaxis" not in deep["layout"]
    assert deep["layout"]["scene"]["zaxis"]["title"]["text"] == "accuracy"
    assert {trace["type"] for trace in flat["data"]} == {"scatter"}
    strong = next(trace for trace in deep["data"] if trace.get("customdata"))
    assert (strong["x"], strong["y"], strong["z"]) == ([2, 3], [2, 1], [0.5, 0.9])
    stems = deep["data"][0]
    assert stems["z"] == [0.5, 0.5, None, 0.9, 0.5, None], "down to the lowest point"
    assert deep["layout"]["meta"]["subtitle"].startswith("less I(X;Z), more I(Z;Y) and more accuracy is better")


def test_any_metric_may_be_the_third_but_not_one_of_the_other_two() -> None:
    view = at((2, 1))
    assert len(front_data(view, None, None, None).axes) == 2
    assert [axis.metric for axis in front_data(view, None, None, "accuracy").axes][2] == "accuracy"
    assert len(front_data(view, None, None, "i_zy_bits").axes) == 2
    with pytest.raises(InvalidInput, match="colour"):
        front_data(view, None, None, "colour")
    assert [(c.param, c.default) for c in controls(view)] == [("x", "i_xz_bits"), ("y", "i_zy_bits"), ("z", "none")]
    assert controls(three_of((1, 1, 1)))[2].default == "accuracy"


# Many trials


def test_thinning_keeps_the_front_and_an_even_sample_of_the_rest() -> None:
    five = {**MIB, "training": {"learning_rate": {"grid": [0.001, 0.002, 0.003, 0.004, 0.005]}}}
    view = bottleneck_of(five, {**five, "name": "other"}, seeds=list(range(1_000)), limits={"trials": 10_000})
    for i, trial in enumerate(view.trials):
        play(view, trial, bits((5 + i % 5_000 / 1000, 1.0)))
    data = front_data(view, None, None)
    arm = data.arms[0]
    assert (len(arm.front), len(arm.dominated), arm.hidden) == (1, MOST_DOMINATED, 4_999 - MOST_DOMINATED)
    assert 7.3 < sum(point.values[0] for point in arm.dominated) / MOST_DOMINATED < 7.7, "the mean of all is 7.5"
    drawn = draw_front(data, "r")
    assert "10,000 trials · 4,000 of 9,998 dominated trials shown" in drawn["layout"]["meta"]["subtitle"]
    assert len(json.dumps(drawn, ensure_ascii=False).encode()) < 1_000_000


def test_thinning_keeps_the_order_and_most_of_its_choice_as_points_come() -> None:
    points = [
        point for arm in front_data(at(*((5 + i, 1) for i in range(60))), None, None).arms for point in arm.dominated
    ]
    first, more = thinned(points[:50], 20), thinned(points, 20)
    assert [p for p in points if p in first] == first and len(first) == len(more) == 20
    assert len(set(first) & set(more)) >= 10 and thinned(points, 100) == points


def test_of_too_many_points_those_with_the_smallest_ids_stay_in_their_order() -> None:
    points = [Point(trial, "a", 0, (0.0, 0.0)) for trial in ("s1/c", "s2/a", "s1/d", "s2/b")]
    assert [point.trial for point in thinned(points, 2)] == ["s2/a", "s2/b"]
    assert thinned(points, 4) == points


def constrained() -> StudyView:
    """The second of three trials breaks both bounds, and would dominate the others."""
    bounds = [{"metric": "i_xz_bits", "at_least": 1.5}, {"metric": "accuracy", "at_least": 0.5}]
    view = bottleneck_of(MIB, seeds=[0, 1, 2], constraints=bounds)
    for trial, (x, y, hit) in zip(view.trials, ((2, 1, 0.75), (1, 3, 0.25), (4, 2, 0.75)), strict=True):
        play(view, trial, [{"i_xz_bits": x, "i_zy_bits": y, "accuracy": hit}])
    return view


def test_what_breaks_a_constraint_is_hollow_and_on_no_front() -> None:
    view = constrained()
    assert front_of(view) == ([(2, 1), (4, 2)], [])
    drawn = draw_front(front_data(view, None, None), "r")
    hollow = [trace for trace in drawn["data"] if trace["marker"]["symbol"].endswith("-open")]
    assert [(trace["x"], trace["y"]) for trace in hollow] == [([1], [3])]
    assert "hollow: 1 infeasible by I(X;Z) ≥ 1.5 bits and accuracy ≥ 0.5" in drawn["layout"]["meta"]["subtitle"]


def test_a_constraint_on_an_axis_is_a_line_there() -> None:
    view = constrained()
    (line,) = draw_front(front_data(view, None, None), "r")["layout"]["shapes"]
    assert (line["xref"], line["x0"], line["x1"], line["yref"]) == ("x", 1.5, 1.5, "paper")
    turned = draw_front(front_data(view, "i_zy_bits", "accuracy"), "r")["layout"]["shapes"]
    assert [(each["yref"], each["y0"], each["label"]["text"]) for each in turned] == [("y", 0.5, "accuracy ≥ 0.5")]
    assert "shapes" not in draw_front(front_data(at((2, 1)), None, None), "r")["layout"]


def test_in_space_what_breaks_a_constraint_is_left_out_and_counted() -> None:
    data = front_data(constrained(), None, None, "accuracy")
    assert "1 infeasible by" in subtitle_of(data) and "left out" in subtitle_of(data)
