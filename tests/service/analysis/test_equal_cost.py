"""Arms with a budget of training seconds: compared at equal cost where both have spent it, else as without it."""

from __future__ import annotations

import pytest

from service.analysis.compared import Comparison, compared
from service.analysis.equal_cost import budget_words, spent_it
from tests.service.studies import MANUAL, bottleneck_of, event, play, tell

FEW = {"name": "few", "weighting": {"name": "fixed", "beta": {"grid": [0.05, 0.5]}}}
SEEDS = (0, 1, 2)


def comparison(budget: float | None, seconds_of_few: float = 2.0) -> Comparison:
    """Nine trials of 2 s each against six; some noise, so that there is something to test."""
    limits = {} if budget is None else {"training_seconds": budget}
    view = bottleneck_of(MANUAL, FEW, seeds=SEEDS, limits=limits)
    for i, (trial, own) in enumerate(view.trials.items()):
        seconds = seconds_of_few if own.planned.arm == "few" else 2.0
        bits = 2.0 + i // 3 % 3  # each β has a place of its own: both arms draw a front
        play(view, trial, [{"i_xz_bits": bits, "i_zy_bits": bits / 2 + (0.37 * i) % 0.3, "seconds": seconds}])
    tell(view, event("study_finished"))
    return compared(view)


@pytest.mark.parametrize("budget", [None, 1e6, 18.0, 12.0])
def test_more_points_are_not_tested_where_an_arm_has_not_spent_its_budget_or_far_more(budget: float | None) -> None:
    """18 s are the grid's own, and the other has spent 12 of them; 12 s are the other's, and the grid spent 18."""
    words = comparison(budget).words["few"]
    assert "2 points per seed against 3: hypervolume grows with their number, no test" in words, words


def test_arms_that_have_both_spent_it_are_tested_whatever_their_number_of_points() -> None:
    made = comparison(17.5, seconds_of_few=3.0)
    assert "paired t-test over 3 seeds" in made.words["few"] and "points per seed" not in made.words["few"]
    spent = "Each arm had 18 s of training: manual β spent 18 s and few spent 18 s."
    assert f"{spent} Hypervolumes are compared at that cost, whatever the number of points." in made.verdict


def test_the_verdict_says_who_is_compared_as_without_the_limit() -> None:
    assert "few is more than a tenth from that: its hypervolume is compared as without" in comparison(18.0).verdict
    both = "manual β and few are more than a tenth from that: their hypervolumes are compared as without the limit."
    assert both in comparison(1e6).verdict
    assert "the limit" not in comparison(None).verdict


def test_a_report_that_is_dearer_than_the_budget_makes_no_equal_cost() -> None:
    """Both arms stopped at their first report: one cost ten times as much as the other."""
    assert spent_it(1.0, {"a": 100.0, "b": 10.0, "c": 1.05, "d": 0.95}) == {"c", "d"}
    assert spent_it(None, {"a": 1.0}) == set()


def test_one_arm_alone_is_compared_with_nothing() -> None:
    assert budget_words(9.0, {"a": 4.0}) == "Each arm had 9.0 s of training: a spent 4.0 s."
