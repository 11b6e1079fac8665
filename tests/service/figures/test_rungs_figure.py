"""Rungs by value: how many trials came to which epoch, who left there, and what is said of it."""

from __future__ import annotations

from service.figures.rungs import RungsData, Step, draw_rungs, rungs_data
from tests.service.studies import event, play, tell
from tests.service.views.test_stopped_trials import reports, stop, view


def subtitle(data: RungsData) -> str:
    return str(draw_rungs(data, "r")["layout"]["meta"]["subtitle"])


def test_the_figure_shows_how_many_came_to_a_rung_and_how_many_stopped() -> None:
    own = view()
    trials = list(own.trials)
    assert [arm.steps for arm in rungs_data(own).arms] == [[], []]
    for trial in trials[:2]:
        stop(own, trial)
    for trial in trials[2:4]:
        play(own, trial, reports(5), end="")
    data = rungs_data(own)
    assert data.arms[0].steps == [Step(0, 4, 0), Step(2, 4, 2), Step(5, 2, 0)] and data.arms[1].steps == []
    assert (data.trained, data.planned) == (14, 50)
    trace = draw_rungs(data, "r")["data"][0]
    assert (trace["x"], trace["y"]) == ([0, 2, 2, 5], [4, 4, 2, 2])


def test_the_figure_shows_who_left_one_mark_each_that_opens_its_trial() -> None:
    """Who was ahead is stopped first in the log, and leaves last."""
    own = view()
    first, second, third, fourth, _ = own.trials
    for trial in (second, first):
        stop(own, trial)
    for trial in (third, fourth):
        play(own, trial, reports(4), end="")
    tell(own, event("trial_stopped", trial=fourth, epoch=4, reason="stopped after epoch 4 of 10: place 2 of 2"))
    data = rungs_data(own)
    left, none = (arm.left for arm in data.arms)
    assert none == [] and [(each.trial, each.epoch, each.remaining) for each in left] == [
        (first, 2, 4),
        (second, 2, 3),
        (fourth, 4, 2),
    ]
    assert (left[0].label, left[2].reason) == ("β 0.1 · seed 0", "stopped after epoch 4 of 10: place 2 of 2")
    counts_, marks, *_ = draw_rungs(data, "r")["data"]
    assert marks["customdata"] == [first, second, fourth] and (marks["x"], marks["y"]) == ([2, 2, 4], [4, 3, 2])
    assert marks["text"][2] == "β 0.4 · seed 0<br>stopped after epoch 4 of 10: place 2 of 2"
    assert marks["marker"]["symbol"] == f"{counts_['marker']['symbol']}-open"
    assert marks["marker"]["color"] == counts_["marker"]["color"] and marks["legendgroup"] == counts_["legendgroup"]


def test_a_trial_that_is_behind_the_others_has_not_left() -> None:
    """Its cohort trains after theirs."""
    own = view()
    play(own, next(iter(own.trials)), reports(1), end="")
    assert rungs_data(own).arms[0].steps == [Step(0, 4, 0), Step(1, 4, 0)]


def test_where_none_stopped_all_are_there_to_the_end() -> None:
    own = view()
    for trial in own.trials:
        play(own, trial, reports(10))
    data = rungs_data(own)
    assert [arm.steps for arm in data.arms] == [[Step(0, 4, 0), Step(10, 4, 0)], [Step(0, 1, 0), Step(10, 1, 0)]]
    assert [arm.left for arm in data.arms] == [[], []] and (data.trained, data.planned) == (50, 50)
    assert subtitle(data) == "0 trials stopped; 100 % of all epochs trained"


def test_where_the_furthest_are_at_the_rung_at_which_others_stopped_it_is_one_step() -> None:
    """Those who stopped and those who go on are at the same epoch."""
    own = view()
    trials = list(own.trials)
    for trial in trials[:2]:
        play(own, trial, reports(2), end="")
    for trial in trials[2:4]:
        stop(own, trial)
    data = rungs_data(own)
    assert data.arms[0].steps == [Step(0, 4, 0), Step(2, 4, 2)]
    counts, marks, *_ = draw_rungs(data, "r")["data"]
    assert (counts["x"], counts["y"]) == ([0, 2, 2], [4, 4, 2]) and (marks["x"], marks["y"]) == ([2, 2], [4, 3])
    assert counts["text"][2] == "grid, epoch 2: 4 trials, of which 2 stopped and 2 went on"
    assert subtitle(data) == "2 trials stopped; 16 % of all epochs trained"


def test_one_trial_is_a_line_of_its_own() -> None:
    own = view()
    assert draw_rungs(rungs_data(own), "r")["layout"]["meta"]["summary"] == "no trial yet"
    play(own, list(own.trials)[-1], reports(10))
    grid, mib = rungs_data(own).arms
    assert (grid.steps, mib.steps) == ([], [Step(0, 1, 0), Step(10, 1, 0)])
    *_, counts, marks = draw_rungs(rungs_data(own), "r")["data"]
    assert counts["text"] == ["MIB, epoch 0: 1 trial", "MIB, epoch 10: 1 trial"] and marks["x"] == []


def test_a_trial_that_ended_with_its_study_left_at_no_rung() -> None:
    own = view()
    first = next(iter(own.trials))
    play(own, first, reports(3), end="")
    tell(own, event("study_cancelled"))
    data = rungs_data(own)
    assert data.arms[0].steps == [Step(0, 4, 0), Step(3, 4, 0)] and data.arms[0].left == []
    assert subtitle(data) == "0 trials stopped; 6 % of all epochs trained"
