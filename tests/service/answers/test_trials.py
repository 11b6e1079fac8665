"""Trials as the API answers them."""

from __future__ import annotations

from service.answers.trials import trial_answer, trial_rows, trials_with_reports
from tests.service.analysis.test_lights import FAR, NEAR, grid
from tests.service.studies import ALL_BETAS, bits, bottleneck_of, curve, event, play, play_curves, tell


def test_rows_of_trials_carry_lights() -> None:
    view = grid(NEAR, FAR, {})
    lights = [{name: lit.light for name, lit in row.lights.items()} for row in trial_rows(view, view.trials)]
    assert lights == [{"i_xz_bits": "near"}, {"i_xz_bits": "far"}, {}]


def test_a_trial_is_told_with_the_curve_of_each_report_that_brought_one() -> None:
    view = bottleneck_of(ALL_BETAS, seeds=(0,))
    (trial,) = view.trials
    first, last = curve((0.01, 4.0, 2.0), (1.0, 1.0, 1.0)), curve((0.01, 3.0, 2.0), (1.0, 0.5, 1.0))
    play_curves(view, trial, first, last, end="")
    tell(view, event("report", trial=trial, metrics={"epoch": 3}))
    answer = trial_answer(view, trial, {})
    assert [report.get("points") for report in answer.reports] == [first, last, None]
    assert answer.reports[2] == {"epoch": 3} and answer.points == last and answer.places == 2
    assert trials_with_reports(view)[0].points == last
    assert "points" not in view.trials[trial].reports[0], "the view itself is not written to"


def test_a_list_of_trials_says_only_how_many_points_they_have() -> None:
    view = bottleneck_of(ALL_BETAS, seeds=(0, 1))
    many, begun = view.trials
    play_curves(view, many, curve((0.01, 4.0, 2.0), (1.0, 1.0, 1.0)))
    play(view, begun, bits((2.0, 2.0)), "")
    rows = trial_rows(view, view.trials)
    assert [row.places for row in rows] == [2, 0]
    assert not any(hasattr(row, "points") for row in rows)
