"""Parallel coordinates by value: places, ticks, what has no value, and what is left out."""

from __future__ import annotations

import math

import pytest

from service.figures.drawing.coordinates import coordinate, round_powers, round_values
from service.figures.parallel_coordinates import MOST_AXES, MOST_LINES, colours_of, coordinates_data, draw_coordinates
from tests.service.studies import MANUAL, MIB, bits, bottleneck_of, play


def test_numbers_that_span_much_are_placed_by_their_logarithm() -> None:
    axis = coordinate("β", [0.01, 1.0, 0.1])
    assert axis.places == [-2, 0, -1] and axis.range == (-2, 0)
    assert axis.ticks == [(-2, "0.01"), (-1, "0.1"), (0, "1")]


def test_numbers_that_span_little_are_placed_as_they_are() -> None:
    axis = coordinate("latent", [4, 16, 8])
    assert axis.places == [4, 16, 8] and axis.ticks == [(4, "4"), (8, "8"), (16, "16")]


def test_what_has_no_value_lies_below_the_smallest() -> None:
    axis = coordinate("β", [10.0, None, 20.0])
    assert axis.places == [10.0, 8.8, 20.0] and axis.ticks[0] == (8.8, "none") and axis.range == (8.8, 20)


def test_names_are_placed_one_by_one() -> None:
    axis = coordinate("optimizer", ["adam", "sgd", "adam", None, True])
    assert axis.places == [0, 1, 0, 2, 3] and [word for _, word in axis.ticks] == ["adam", "sgd", "none", "True"]


def test_a_single_value_lies_in_the_middle() -> None:
    axis = coordinate("accuracy", [0.5, 0.5])
    assert axis.places == [0.5, 0.5] and axis.range == (0.0, 1.0)


def test_ticks_are_round_numbers() -> None:
    assert round_values(0.13, 0.98) == [0.2, 0.4, 0.6, 0.8]
    assert round_values(-3, 17) == [0, 5, 10, 15]
    assert round_powers(0.5, 120) == [0.5, 1, 2, 5, 10, 20, 50, 100]
    assert round_powers(1e-4, 1) == [1e-4, 1e-3, 1e-2, 1e-1, 1]


def test_a_line_runs_through_arm_parameters_objectives_and_accuracy() -> None:
    view = bottleneck_of(MANUAL, MIB, seeds=[0])
    for i, trial in enumerate(view.trials):
        play(view, trial, [{"i_xz_bits": 2.0 + i, "i_zy_bits": 1.0, "accuracy": 0.5 + i / 10}])
    data = coordinates_data(view)
    assert data.trials == list(view.trials) and data.arms == [0, 0, 0, 1]
    assert [axis.label for axis in data.axes] == ["arm", "β", "I(X;Z) [bits]", "I(Z;Y) [bits]", "accuracy"]
    assert data.axes[1].places == [-2, -1, 0, pytest.approx(-2.24)], "MIB has no β"
    assert data.axes[4].places == [0.5, 0.6, 0.7, 0.8]
    drawn = draw_coordinates(data, "r")
    assert drawn["layout"]["meta"]["trials"] == data.trials and drawn["data"][0]["line"]["color"] == data.arms


def test_a_start_is_not_shown_as_the_beta_of_a_line() -> None:
    target = {"name": "target", "weighting": {"name": "target-rate", "rate_bits": 4.0, "beta": 0.01}}
    view = bottleneck_of(MANUAL, target, MIB, seeds=[0])
    *grid, held, mib = view.trials
    reported = {"i_xz_bits": 2.0, "i_zy_bits": 1.0, "accuracy": 0.5, "weight_pred": 0.5}
    for trial in grid:
        play(view, trial, [reported])
    play(view, held, [{**reported, "weight_info": 0.05}])
    play(view, mib, [{**reported, "weight_info": None}])
    data = coordinates_data(view)
    assert data.axes[1].places == [-2, -1, 0, -1, pytest.approx(-2.24)], "0.1 is where target ended; MIB has none"
    assert (
        "β of target: its weights’ ratio in the last epoch" in draw_coordinates(data, "r")["layout"]["meta"]["subtitle"]
    )


def test_a_trial_without_a_value_has_no_line_and_is_counted() -> None:
    view = bottleneck_of(MIB, seeds=[0, 1, 2, 3, 4])
    good, null, infinite, failed, _planned = view.trials
    play(view, good, [{"i_xz_bits": 2.0, "i_zy_bits": 1.0, "accuracy": 0.5}])
    play(view, null, bits((2.0, 1.0)))
    play(view, infinite, [{"i_xz_bits": math.inf, "i_zy_bits": 1.0, "accuracy": 0.5}])
    play(view, failed, [{"i_xz_bits": 2.0, "i_zy_bits": 1.0, "accuracy": 0.5}], end="trial_failed")
    data = coordinates_data(view)
    assert data.trials == [good] and data.without == 3
    assert "3 without a value on every axis left out" in draw_coordinates(data, "r")["layout"]["meta"]["subtitle"]


def test_there_are_at_most_twelve_axes() -> None:
    terms = [f"t{i}" for i in range(20)]
    view = bottleneck_of(MANUAL, seeds=[0])
    for number, (trial_id, trial) in enumerate(view.trials.items()):
        play(view, trial_id, [{"i_xz_bits": 2.0, "i_zy_bits": 1.0, "accuracy": 0.5}])
        trial.planned = trial.planned._replace(config={f"weighting.weights.{term}": number for term in terms})
    data = coordinates_data(view)
    assert len(data.axes) == MOST_AXES and data.more_axes == 11
    assert data.axes[-1].label == "accuracy", "what came of it is never left out"


def test_many_lines_are_thinned() -> None:
    view = bottleneck_of(MANUAL, seeds=list(range(700)), limits={"trials": 2100})
    for trial in view.trials:
        play(view, trial, [{"i_xz_bits": 2.0, "i_zy_bits": 1.0, "accuracy": 0.5}])
    data = coordinates_data(view)
    assert (len(data.trials), data.hidden) == (MOST_LINES, 100)
    assert data.trials == [trial for trial in view.trials if trial in set(data.trials)]


def test_every_arm_has_its_own_step_of_the_colour_scale() -> None:
    assert colours_of(2) == [(0.0, "#0072B2"), (0.5, "#0072B2"), (0.5, "#D55E00"), (1.0, "#D55E00")]


def test_without_a_trial_there_is_no_line() -> None:
    drawn = draw_coordinates(coordinates_data(bottleneck_of(MANUAL)), "r")
    assert drawn["data"][0]["dimensions"] == [] and drawn["layout"]["meta"]["trials"] == []
