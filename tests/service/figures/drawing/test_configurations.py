"""The best configuration of an arm: by the mean over its seeds, and never by luck."""

from __future__ import annotations

import math

import pytest

from service.figures.drawing.configurations import best_note, best_of
from service.views.fold import StudyView
from service.views.selectors import configurations
from tests.service.studies import MANUAL, accuracy, bottleneck_of, play

NAN = math.nan


def graded(*values: tuple[float | None, float | None]) -> StudyView:
    """Accuracies of two seeds for each of three βs; none: it has not reported."""
    view = bottleneck_of(MANUAL, seeds=(0, 1))
    for trial, value in zip(view.trials, (value for pair in values for value in pair), strict=True):
        if value is not None:
            play(view, trial, accuracy(value))
    return view


def best(view: StudyView) -> tuple[str, int, list[float]]:
    chosen = best_of(view, "manual β", "accuracy")
    return chosen.label, chosen.of, list(chosen.values.values())


def test_the_best_mean_over_seeds_wins() -> None:
    assert best(graded((0.5, 0.6), (0.9, 0.3), (0.2, 0.1))) == ("β 0.1", 3, [0.9, 0.3])


def test_one_lucky_seed_does_not_beat_a_mean_over_two() -> None:
    assert best(graded((0.5, 0.6), (0.9, None), (0.2, 0.1))) == ("β 0.01", 3, [0.5, 0.6])


def test_of_equal_means_the_one_planned_first_wins() -> None:
    assert best(graded((0.1, 0.1), (0.5, 0.5), (0.5, 0.5))) == ("β 0.1", 3, [0.5, 0.5])


def test_what_is_not_finite_is_no_value() -> None:
    assert best(graded((0.5, 0.6), (NAN, 0.9), (None, None))) == ("β 0.01", 2, [0.5, 0.6])


def test_a_failed_trial_has_no_value() -> None:
    view = graded((None, None), (0.4, 0.4), (None, None))
    first, second, *_ = view.trials
    play(view, first, accuracy(0.9), "trial_failed")
    play(view, second, accuracy(0.9), "trial_failed")
    assert best(view) == ("", 1, [0.4, 0.4]), "one configuration needs no label"


def test_the_least_wins_where_less_is_better() -> None:
    chosen = best_of(graded((0.5, 0.6), (0.9, 0.3), (0.2, 0.1)), "manual β", "accuracy", "minimize")
    assert chosen.label == "β 1" and chosen.mean.mean == pytest.approx(0.15)


def test_trials_of_a_configuration_differ_in_their_seed_alone() -> None:
    view = bottleneck_of(MANUAL, seeds=(0, 1))
    groups = configurations(view, "manual β")
    assert [trial for group in groups for trial in group] == list(view.trials) and len(groups) == 3
    assert all([view.trials[trial].planned.seed for trial in group] == [0, 1] for group in groups)


def test_an_arm_says_best_of_how_many_only_where_there_was_a_choice() -> None:
    several = best_of(graded((0.5, 0.6), (0.9, 0.3), (0.2, 0.1)), "manual β", "accuracy")
    single = best_of(graded((0.5, 0.6), (None, None), (None, None)), "manual β", "accuracy")
    assert (best_note(several), best_note(single)) == ("best of 3", "")


def test_a_trial_that_had_no_part_in_the_choice_has_none_in_the_mean() -> None:
    view = bottleneck_of(MANUAL, seeds=(0, 1), data={"name": "digits", "validation_fraction": 0.2})
    first, second, *_ = view.trials
    play(view, first, [{"accuracy": 0.5, "validation_accuracy": 0.6}])
    play(view, second, [{"accuracy": 0.9, "validation_accuracy": None}])
    chosen = best_of(view, "manual β", "accuracy")
    assert (chosen.trials, chosen.values, chosen.mean.mean) == ([first, second], {first: 0.5}, 0.5)
