"""Whether gradients conflict, and when: phases, means over seeds, and the sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from service.analysis.gradient_angles import HARDLY, phase_of
from service.analysis.watched import gradients_words, watched_arms
from service.answers.comparison import comparison_answer
from service.views.fold import StudyView
from tests.service.studies import MANUAL, MIB, bits, bottleneck_of, event, play, study_of, tell

UNIFORM = {"name": "uniform", "weighting": {"name": "uniform"}}
WATCH = {"gradients": True}
CALM, FIERCE = 0.0, -0.5


def phase(*cosines: float) -> tuple[str, list[int], list[int]]:
    found = phase_of(dict(enumerate(cosines, 1)))
    return found.kind, found.epochs, found.others


def ended(view: StudyView) -> StudyView:
    tell(view, event("study_finished"))
    return view


def watched(*paths: Sequence[float | None], ratio: float = 1.0, arm: dict[str, Any] = MIB) -> StudyView:
    """A finished study of one arm, with a path of cosines for each seed."""
    view = bottleneck_of(arm, seeds=range(len(paths)), evaluation=WATCH)
    for trial, path in zip(view.trials, paths, strict=True):
        lengths = {"gradient_norm_pred": 2.0, "gradient_norm_info": 2.0 * ratio}
        play(view, trial, [{"cosine_pred_info": cosine, **lengths} for cosine in path])
    return ended(view)


# Phases


def test_a_conflict_is_a_cosine_below_hardly_anything() -> None:
    assert phase(-HARDLY, -HARDLY)[0] == "never"
    assert phase(-HARDLY - 0.01, -HARDLY - 0.01) == ("throughout", [1, 2], [])
    assert phase(FIERCE)[0] == "throughout" and phase(CALM)[0] == "never"


def test_a_phase_is_at_the_start_or_at_the_end() -> None:
    assert phase(FIERCE, FIERCE, CALM, CALM, CALM) == ("first", [1, 2], [3, 4, 5])
    assert phase(CALM, CALM, CALM, FIERCE) == ("last", [4], [1, 2, 3])


def test_few_epochs_may_stray_from_a_phase_and_more_are_scattered() -> None:
    path = [FIERCE] * 5 + [CALM] * 15
    path[2] = CALM
    assert phase(*path)[0] == "first" and phase(*path)[1] == [1, 2, 3, 4, 5]
    calm = [CALM] * 20
    calm[10] = FIERCE
    assert phase(*calm)[0] == "never"
    assert phase(*[CALM, FIERCE, CALM] * 4) == ("scattered", [2, 5, 8, 11], [1, 3, 4, 6, 7, 9, 10, 12])


# What is measured


def test_trials_of_a_seed_are_averaged_before_seeds_and_arms_count_once() -> None:
    view = bottleneck_of(MANUAL, MIB, seeds=(0, 1, 2), evaluation=WATCH)
    for trial in view.trials.values():
        at = (0.1, 0.4) if trial.planned.arm == "MIB" else (0.0, 0.0)
        path = [{"cosine_pred_info": cosine + 0.1 * trial.planned.seed} for cosine in at]
        play(view, trial.planned.id, path)
    manual, mib = watched_arms(view)
    assert manual.cosine.mean == pytest.approx(0.1) and manual.cosine.seeds == 3
    assert mib.cosine.mean == pytest.approx(0.35) and mib.cosine.half_width == pytest.approx(0.1 * 4.3026527 / 3**0.5)
    assert "(mean cosine 0.225 ± 0.248 over 3 seeds)" in (gradients_words(view) or ""), "nine trials of βs, one arm"


def test_the_share_of_negative_epochs_is_of_means_over_seeds() -> None:
    (arm,) = watched_arms(watched((-0.3, 0.1, -0.1), (0.1, 0.1, 0.0)))
    assert arm.negative == pytest.approx(2 / 3)


def test_failed_and_collapsed_trials_and_missing_angles_do_not_count() -> None:
    view = bottleneck_of(MIB, seeds=(0, 1, 2))
    fine, failed, collapsed = view.trials
    play(view, fine, [{"cosine_pred_info": None}, {"cosine_pred_info": 0.2}])
    play(view, failed, [{"cosine_pred_info": -0.9}], end="trial_failed")
    play(view, collapsed, [{"cosine_pred_info": -0.9, "i_xz_bits": 0.0}])
    (arm,) = watched_arms(view)
    assert (arm.cosine.mean, arm.cosine.seeds) == (0.2, 1)


def test_a_ratio_is_the_geometric_mean() -> None:
    view = bottleneck_of(MIB, seeds=(0, 1))
    for trial, length in zip(view.trials, (1.0, 100.0), strict=True):
        play(view, trial, [{"cosine_pred_info": 0.0, "gradient_norm_pred": 1.0, "gradient_norm_info": length}])
    assert watched_arms(view)[0].ratio == pytest.approx(10)


# The sentence


def test_gradients_that_hardly_conflict_are_said_to() -> None:
    assert gradients_words(watched((0.01, 0.03), (0.02, 0.04), (0.03, 0.05))) == (
        "The gradients of pred and info hardly conflict (mean cosine 0.0300 ± 0.0248 over 3 seeds)."
    )


def test_gradients_that_agree_are_said_to() -> None:
    assert "agree (mean cosine 0.500, one seed)." in (gradients_words(watched((0.5, 0.5))) or "")


def test_a_phase_of_conflict_is_told_with_what_comes_after() -> None:
    path = [FIERCE] * 3 + [0.02] * 5
    assert gradients_words(watched(path, path, path)) == (
        "The gradients of pred and info conflict in the first 3 epochs (mean cosine −0.500 ± 0.000 over 3 seeds), "
        "hardly after (0.0200 ± 0.0000 over 3 seeds)."
    )
    late = [0.02, 0.02, FIERCE, FIERCE]
    assert gradients_words(watched(late)) == (
        "The gradients of pred and info hardly conflict in the first 2 epochs (0.0200, one seed), but conflict after "
        "(mean cosine −0.500, one seed)."
    )
    assert "in the first epoch (" in (gradients_words(watched([FIERCE, 0.5, 0.5])) or "")
    assert "and agree after (0.500, one seed)" in (gradients_words(watched([FIERCE, 0.5, 0.5])) or "")


def test_a_conflict_whose_interval_reaches_0_is_not_shown() -> None:
    said = gradients_words(watched([-0.9] * 2, [-0.1] * 2, [0.2] * 2)) or ""
    assert "may conflict throughout (mean cosine −0.267" in said and said.endswith(": not shown).")
    two = gradients_words(watched([-0.9] * 2, [0.1] * 2)) or ""
    assert "conflict throughout (mean cosine −0.900 and 0.100, two seeds)" in two, "no interval to reach anything"


def test_scattered_conflicts_are_counted() -> None:
    said = gradients_words(watched([CALM, FIERCE, CALM] * 4)) or ""
    assert "conflict in 4 of 12 epochs (mean cosine −0.500, one seed), hardly in the others (0, one seed)" in said


def test_lengths_are_told_where_one_is_twice_the_other() -> None:
    some, more, less = (gradients_words(watched([0.0], ratio=ratio)) or "" for ratio in (1.9, 25, 0.25))
    assert "long" not in some
    assert "; that of info is 25.0 times as long as that of pred." in more
    assert "; that of pred is 4.00 times as long as that of info." in less


def test_arms_that_differ_are_named_and_so_is_one_that_is_watched_alone() -> None:
    view = bottleneck_of(UNIFORM, MIB, seeds=[0], evaluation=WATCH)
    for trial, cosine in zip(view.trials, (-0.05, 0.4), strict=True):
        play(view, trial, [{"cosine_pred_info": cosine}])
    assert "; from −0.0500 in uniform to 0.400 in MIB." in (gradients_words(view) or "")
    alone = bottleneck_of(UNIFORM, MIB, seeds=[0])
    play(alone, [*alone.trials][1], [{"cosine_pred_info": 0.4}])
    assert (gradients_words(alone) or "").startswith("So far: In MIB the gradients of pred and info agree")


def test_tasks_that_are_trained_alone_are_not_spoken_of() -> None:
    view = study_of(UNIFORM, {"name": "single", "weighting": {"name": "single"}}, seeds=[0], evaluation=WATCH)
    for trial in view.trials.values():
        play(view, trial.planned.id, [{"cosine_left_right": 0.0 if trial.planned.arm == "uniform" else -0.9}])
    assert gradients_words(ended(view)) == "The gradients of left and right hardly conflict (mean cosine 0, one seed)."


def test_of_more_terms_the_mean_is_told_and_the_pair_that_agrees_least() -> None:
    problem = {"name": "multitask", "main": "class", "auxiliaries": ["rotation", "random-labels"]}
    view = study_of({**UNIFORM, "problem": problem}, seeds=[0], data={"name": "digits"}, evaluation=WATCH)
    pairs = {"class_rotation": 0.2, "class_random-labels": -0.3, "rotation_random-labels": 0.1}
    play(view, next(iter(view.trials)), [{**{f"cosine_{k}": v for k, v in pairs.items()}, "cosine_mean": 0.0}])
    assert gradients_words(ended(view)) == (
        "The gradients of the 3 terms hardly conflict (mean cosine 0, one seed); class and random-labels agree least "
        "(−0.300, one seed)."
    )


def test_nothing_is_said_where_nothing_was_watched() -> None:
    view = bottleneck_of(MANUAL, seeds=[0])
    for trial in view.trials:
        play(view, trial, bits((3.0, 1.0)))
    assert gradients_words(view) is None and comparison_answer(view).gradients is None
    assert [arm.gradients for arm in comparison_answer(view).arms] == [None]


def test_the_comparison_has_the_sentence_and_each_arms_figures() -> None:
    view = watched((-0.3, 0.1), (-0.3, 0.3), (-0.3, 0.2), ratio=math.e)
    answer = comparison_answer(view)
    assert answer.gradients == gradients_words(view)
    (arm,) = answer.arms
    assert arm.gradients is not None
    assert arm.gradients.cosine.mean == pytest.approx(-0.05) and arm.gradients.negative == 0.5
    assert arm.gradients.ratio == pytest.approx(math.e)
    assert arm.gradients.words.startswith("conflict in the first epoch (mean cosine −0.300")
