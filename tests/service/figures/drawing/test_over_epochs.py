"""Metrics over epochs: what the line, the band and the thinning are, by value."""

from __future__ import annotations

import pytest

from service.analysis import mean_interval
from service.figures.drawing.over_epochs import MOST_EPOCHS, band_of, paths_data, spread_words, thinned
from tests.service.studies import MANUAL, MIB, bottleneck_of, play, study_of, weights

PATHS = [{1: 0.0, 2: 1.0}, {1: 0.0, 2: 1.0}, {1: 3.0}]


def test_over_seeds_the_line_is_the_mean_and_the_band_its_interval() -> None:
    band = band_of(PATHS, "interval")
    half = mean_interval([0.0, 0.0, 3.0]).half_width or 0.0
    assert (band.epochs, band.middle, band.trials) == ([1, 2], [1.0, 1.0], [3, 2])
    assert band.low == [pytest.approx(1 - half, rel=1e-3), 1.0] and band.high == [
        pytest.approx(1 + half, rel=1e-3),
        1.0,
    ]


def test_over_configurations_the_line_is_the_median_and_the_band_their_range() -> None:
    band = band_of(PATHS, "range")
    assert (band.middle, band.low, band.high) == ([0.0, 1.0], [0.0, 1.0], [3.0, 1.0])


def test_a_single_trial_has_a_line_and_no_band() -> None:
    for band in (band_of([{1: 0.5}], "interval"), band_of([{1: 0.5}], "range")):
        assert (band.middle, band.low, band.high) == ([0.5], [None], [None])


def test_few_epochs_are_all_shown_and_of_many_the_first_and_the_last_are_among_them() -> None:
    assert thinned(range(1, MOST_EPOCHS + 1)) == list(range(1, MOST_EPOCHS + 1))
    epochs = thinned(range(1, 3 * MOST_EPOCHS + 2))
    assert epochs[0] == 1 and epochs[-1] == 3 * MOST_EPOCHS + 1 and len(epochs) <= MOST_EPOCHS
    assert all(epoch % 4 == 0 for epoch in epochs[1:-1])


def test_an_epoch_told_twice_counts_the_second_time() -> None:
    view = bottleneck_of(MIB, seeds=(0,))
    (trial,) = view.trials
    play(view, trial, [{"epoch": 1.0, "accuracy": 0.1}, {"epoch": 2.0}, {"epoch": 1.0, "accuracy": 0.3}])
    assert view.trials[trial].path("accuracy") == {1: 0.3}


def test_a_last_report_of_an_earlier_epochs_weights_is_no_point_of_the_curve() -> None:
    view = bottleneck_of(MIB, seeds=(0,))
    (trial,) = view.trials
    told = [
        {"epoch": 1, "accuracy": 0.7},
        {"epoch": 2, "accuracy": 0.6},
        {"epoch": 3, "accuracy": 0.7, "best_epoch": 1},
    ]
    play(view, trial, told)
    assert view.trials[trial].path("accuracy") == {1: 0.7, 2: 0.6}
    play(view, trial, [{"epoch": 3, "accuracy": 0.8, "best_epoch": 3}])
    assert view.trials[trial].path("accuracy")[3] == 0.8


def test_an_arm_of_one_configuration_spreads_over_seeds_and_a_grid_over_its_range() -> None:
    view = bottleneck_of(MANUAL, MIB)
    for trial in view.trials:
        play(view, trial, [{"accuracy": 0.5}])
    grid, mib = paths_data(view, ["accuracy"]).arms
    assert (grid.spread, grid.trials, mib.spread, mib.trials) == ("range", 6, "interval", 2)
    assert spread_words(paths_data(view, ["accuracy"])) == (
        "two seeds: mean and range, no interval · manual β: median, range of 6 trials"
    )


def test_metrics_beyond_the_first_few_are_counted() -> None:
    view = study_of()
    for trial in view.trials:
        play(view, trial, weights(1.0))
    data = paths_data(view, ["weight_left", "weight_right"] * 4)
    assert (len(data.metrics), data.left_out) == (6, 2)
