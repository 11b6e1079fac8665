"""A study as lists and its page show it: how its hypervolume grew, how far each arm is, what each has won."""

from __future__ import annotations

import pytest

from service.analysis.compared import compared
from service.answers.comparison import comparison_answer
from service.answers.studies import SPARK_STEPS, front_answer, spark, study_answer, study_summary
from service.figures.drawing.fronts import front_data
from service.views.fold import StudyView
from tests.service.studies import MIB, bits, bottleneck_of, event, play, tell

GRID = {"name": "grid", "weighting": {"name": "fixed", "beta": {"grid": [0.01, 0.1, 1.0]}}}
OBJECTIVES = [
    {"metric": "i_xz_bits", "goal": "minimize", "reference": 10.0},
    {"metric": "i_zy_bits", "goal": "maximize", "reference": 0.0},
]


def grid(seeds: int = 1, **spec: object) -> StudyView:
    return bottleneck_of(GRID, seeds=range(seeds), objectives=OBJECTIVES, **spec)


def test_the_spark_grows_in_the_order_in_which_trials_ended() -> None:
    view = grid()
    first, second, third = view.trials
    play(view, third, bits((9.0, 1.0)))  # (10 − 9) × 1
    play(view, first, bits((8.0, 2.0)))  # (10 − 8) × 2, and it dominates the other
    play(view, second, bits((1.0, 0.5)))  # (8 − 1) × 0.5 more
    assert spark(view) == [0.0, 1.0, 4.0, 7.5]


def test_the_spark_has_no_trial_that_still_runs_failed_or_collapsed() -> None:
    view = grid(2)
    ended, running, failed, collapsed, *_ = view.trials
    play(view, running, bits((1.0, 3.0)), end="")
    assert spark(view) == [], "nothing has ended"
    play(view, failed, bits((1.0, 3.0)), end="trial_failed")
    play(view, collapsed, bits((0.0, 3.0)))
    assert spark(view) == []
    play(view, ended, bits((9.0, 1.0)))
    assert spark(view) == [0.0, 1.0]


def test_the_spark_of_a_large_study_has_a_few_steps_and_ends_with_all_of_it() -> None:
    view = grid(20)
    for i, trial in enumerate(view.trials, 1):
        play(view, trial, bits((9.0, i)))
    heights = spark(view)
    assert len(heights) == SPARK_STEPS + 1
    assert (heights[0], heights[-1]) == (0.0, 60.0) and heights == sorted(heights)


def test_the_spark_is_rounded_to_four_digits() -> None:
    view = grid()
    play(view, next(iter(view.trials)), bits((10.0 - 1 / 3, 1.0)))
    assert spark(view) == [0.0, 0.3333]


def test_each_arm_has_its_own_counts_progress_and_hypervolume() -> None:
    view = bottleneck_of(GRID, MIB, seeds=(0,), objectives=OBJECTIVES, training={"epochs": 4})
    first, second, _, mib = view.trials
    play(view, first, bits((8.0, 2.0)))
    play(view, second, bits((9.0, 3.0)), end="")
    play(view, mib, bits((5.0, 1.0)), end="trial_failed")
    grid_arm, mib_arm = study_summary(view).arms
    assert (grid_arm.name, grid_arm.counts.planned, grid_arm.counts.finished, grid_arm.counts.running) == (
        "grid",
        3,
        1,
        1,
    )
    assert grid_arm.progress == pytest.approx((1 + 1 / 4) / 3)
    assert grid_arm.hypervolume == pytest.approx(2 * 2 + 1 * 1), "a trial that runs counts with what it has"
    assert (mib_arm.name, mib_arm.counts.failed, mib_arm.progress, mib_arm.hypervolume) == ("MIB", 1, 1.0, 0.0)
    assert grid_arm.colour != mib_arm.colour and grid_arm.symbol != mib_arm.symbol


def test_an_arm_has_one_hypervolume_the_mean_over_seeds_on_every_page() -> None:
    view = bottleneck_of(GRID, MIB, seeds=(0, 1), objectives=OBJECTIVES)
    for trial_id, trial in view.trials.items():
        place = (8.0, 2.0) if trial.planned.seed else (5.0, 1.0)
        play(
            view,
            trial_id,
            bits(place),
            end="trial_failed" if trial.planned.arm == "MIB" and place[1] == 1 else "trial_finished",
        )
    listed = [arm.hypervolume for arm in study_summary(view).arms]
    assert listed == [(4.0 + 5.0) / 2, (4.0 + 0.0) / 2], "trials of both seeds together would attain 7 and 4"
    assert listed == [arm.hypervolume.mean for arm in comparison_answer(view).arms]
    assert listed == [arm.hypervolume for arm in front_data(view, None, None).arms]
    pooled = [arm.result.hypervolume_all_seeds for arm in compared(view).arms]
    front = front_answer(view, None, None)
    assert listed == [arm.hypervolume_mean for arm in front.arms]
    assert pooled == [arm.hypervolume for arm in front.arms] == [7.0, 4.0], "of the points, all seeds together"


def test_a_summary_is_made_anew_with_every_event() -> None:
    view = grid()
    trial = next(iter(view.trials))
    tell(view, event("study_started", job="j"))
    assert (study_summary(view).spark, study_summary(view).arms[0].counts.finished) == ([], 0)
    play(view, trial, bits((9.0, 1.0)))
    summary = study_summary(view)
    assert (summary.spark, summary.arms[0].counts.finished, summary.last_seq) == ([0.0, 1.0], 1, view.seq)
    tell(view, event("study_failed", reason="the disk is full"))
    assert (study_summary(view).reason, study_summary(view).eta_seconds) == ("the disk is full", None)


def test_a_study_says_what_it_was_asked_and_what_it_reports() -> None:
    view = grid()
    answer = study_answer(view)
    assert answer.spec == view.spec and [row.name for row in answer.metrics] == view.study.metrics
