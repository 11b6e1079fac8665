"""Which parameter explains a metric: shares of variance on constructed tables, and what the figure says of them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from service.analysis.collinear import varying_together
from service.analysis.variance import _factors, explained, levels_of
from service.contract.wire.errors import InvalidInput
from service.figures import figures_of
from service.figures.importance import controls, draw_importance, importance_data
from service.views.fold import StudyView
from tests.service.studies import MANUAL, MIB, accuracy, bottleneck_of, play, study_of

ROWS = list(itertools.product(range(4), range(3), range(2)))  # a full grid of two parameters, two seeds each
FIRST, SECOND = [a for a, _, _ in ROWS], [b for _, b, _ in ROWS]
ONE_ARM = ["a"] * len(ROWS)


def shares(y: list[float]) -> dict[str, float]:
    found = explained(y, {"first": FIRST, "second": SECOND}, ONE_ARM)
    assert found is not None
    return {effect.name: effect.share for effect in found.effects} | {"rest": found.rest}


def test_a_parameter_that_decides_everything_explains_everything() -> None:
    assert shares([a * a for a in FIRST]) == pytest.approx({"first": 1.0, "second": 0.0, "rest": 0.0}, abs=1e-6)


def test_two_parameters_that_add_up_share_the_variance_by_their_own() -> None:
    y = [a + 2.0 * b for a, b in zip(FIRST, SECOND, strict=True)]
    # The variance of 0 … 3 is 5/4, that of 0, 2, 4 is 8/3.
    whole = 5 / 4 + 8 / 3
    assert shares(y) == pytest.approx({"first": 5 / 4 / whole, "second": 8 / 3 / whole, "rest": 0.0}, abs=1e-6)


def test_a_pure_interaction_is_explained_by_no_parameter_alone() -> None:
    y = [float((a % 2) == (b % 2)) for a, b, _ in itertools.product(range(4), range(4), range(2))]
    rows = list(itertools.product(range(4), range(4), range(2)))
    found = explained(y, {"a": [a for a, _, _ in rows], "b": [b for _, b, _ in rows]}, ["x"] * len(rows))
    assert found is not None and [effect.share for effect in found.effects] == [0.0, 0.0] and found.rest == 1.0


def test_noise_is_explained_by_nothing_on_average() -> None:
    rng = np.random.default_rng(1)
    raw = [explained(rng.normal(size=24).tolist(), {"first": FIRST}, ONE_ARM) for _ in range(200)]
    found = [r.effects[0] for r in raw if r is not None]
    uncorrected = 3 / 23  # what the levels of a parameter that means nothing seem to explain
    assert np.mean([effect.share for effect in found]) < uncorrected / 2
    assert np.mean([effect.low == 0 for effect in found]) > 0.9, "the interval has 0 in it"


def test_the_correction_by_hand() -> None:
    y = [1.0, 3.0, 2.0, 2.0, 5.0, 7.0, 6.0, 6.0]  # means 2 and 6: SS = 8·4 = 32 between, 4 within on 6 degrees
    found = explained(y, {"p": [0, 0, 0, 0, 1, 1, 1, 1]}, ["a"] * 8)
    assert found is not None and found.effects[0].share == pytest.approx((32 - 4 / 6) / 36)
    assert found.rest == pytest.approx(1 - (32 - 4 / 6) / 36)


def test_a_parameter_explains_only_what_its_arm_does_not() -> None:
    arms = ["manual"] * 8 + ["automatic"] * 8
    beta = [1, 1, 1, 1, 2, 2, 2, 2] + [None] * 8
    found = explained([0, 0, 0, 0, 2, 2, 2, 2] + [5] * 8, {"β": beta}, arms)
    # Means 1 and 5 of the arms: 16·4 = 64; within manual 8·1 = 8.
    assert found is not None
    assert [(effect.name, effect.levels) for effect in found.effects] == [("arm", 2), ("β", 2)]
    assert [effect.share for effect in found.effects] == pytest.approx([64 / 72, 8 / 72])


def test_a_parameter_that_acts_against_itself_in_another_arm_still_explains() -> None:
    y = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    found = explained(y, {"p": [0, 0, 0, 1, 1, 1] * 2}, ["a"] * 6 + ["b"] * 6)
    assert found is not None and [effect.share for effect in found.effects] == pytest.approx([0.0, 1.0], abs=1e-6)


def test_a_level_in_one_arm_is_not_that_level_in_another() -> None:
    rows = list(itertools.product("abc", (0, 1, 2), range(2)))
    _, factor = _factors({"p": [level for _, level, _ in rows]}, [arm for arm, _, _ in rows])
    cells = {(arm, level): int(group) for (arm, level, _), group in zip(rows, factor.groups, strict=True)}
    assert len(set(cells.values())) == len(cells) == 9 and factor.levels == 3


def test_drawing_trials_twice_does_not_move_the_interval() -> None:
    rng = np.random.default_rng(2)
    middles = []
    for _ in range(100):
        found = explained((np.array(FIRST) + rng.normal(scale=1.5, size=24)).tolist(), {"first": FIRST}, ONE_ARM)
        assert found is not None
        effect = found.effects[0]
        middles.append((effect.low + effect.high) / 2 - effect.share)
    assert abs(np.mean(middles)) < 0.03


def test_equal_values_are_a_level_and_numbers_that_differ_are_binned() -> None:
    groups, binned = levels_of([0.1, 0.1, 0.2, 0.2, None])
    assert (groups.tolist(), binned) == ([0, 0, 1, 1, 2], False)
    groups, binned = levels_of([float(i) for i in range(20)])
    assert binned and np.bincount(groups).tolist() == [5, 5, 5, 5]
    groups, binned = levels_of(["adam", "sgd", "adam"])
    assert (groups.tolist(), binned) == ([0, 1, 0], False)


def test_a_search_is_explained_by_what_moves_with_its_number() -> None:
    x = np.random.default_rng(0).random(40)
    other = np.random.default_rng(1).random(40)
    found = explained((10 * x).tolist(), {"x": x.tolist(), "other": other.tolist()}, ["a"] * 40)
    assert found is not None
    first, second = found.effects
    assert first.binned and first.levels == 6 and first.share > 0.8 and first.low > 0.5 and second.share < 0.02


def test_the_interval_is_the_same_every_time_and_holds_the_estimate() -> None:
    y = [a + b / 3 + s / 2 for a, b, s in ROWS]
    first, second = (explained(y, {"first": FIRST, "second": SECOND}, ONE_ARM) for _ in range(2))
    assert first == second and first is not None
    assert all(0 <= effect.low <= effect.share <= effect.high <= 1 for effect in first.effects)


@pytest.mark.parametrize(
    ("y", "parameter"),
    [
        ([1.0, 2.0] * 3, [0, 1] * 3),
        ([3.0] * 10, list("abcdefghij")),
        ([float(i) for i in range(10)], list("abcdefghij")),
    ],
)
def test_too_few_trials_no_variance_or_nothing_left_over_explain_nothing(y: list[float], parameter: list[Any]) -> None:
    assert explained(y, {"p": parameter}, ["a"] * len(y)) is None


@given(st.lists(st.floats(-1e6, 1e6), min_size=24, max_size=24))
def test_shares_lie_between_0_and_1_and_do_not_depend_on_the_unit(y: list[float]) -> None:
    found = explained(y, {"first": FIRST, "second": SECOND}, ONE_ARM)
    assume(found is not None)
    assert found is not None and len(found.effects) == 2
    assert all(0 <= effect.share <= 1 for effect in found.effects) and 0 <= found.rest <= 1
    assert sum(effect.share for effect in found.effects) + found.rest == pytest.approx(1)
    scaled = explained([1e3 * v for v in y], {"first": FIRST, "second": SECOND}, ONE_ARM)
    assert scaled is not None and scaled.rest == pytest.approx(found.rest, abs=1e-6)


# The figure


def graded(seeds: int = 3) -> StudyView:
    """Accuracy is decided by β, and MIB's is in the middle."""
    view = bottleneck_of(MANUAL, MIB, seeds=list(range(seeds)))
    by_beta: dict[object, float] = {0.01: 0.9, 0.1: 0.8, 1.0: 0.4, None: 0.7}
    for trial_id, trial in view.trials.items():
        play(view, trial_id, accuracy(by_beta[trial.planned.config.get("weighting.beta")]))
    return view


def test_importance_is_told_within_an_arm_and_over_all() -> None:
    view = graded()
    alone = importance_data(view, "accuracy", "manual β")
    assert (alone.trials, alone.arm) == (9, 0) and alone.explained is not None
    assert [effect.name for effect in alone.explained.effects] == ["β"]
    assert alone.explained.effects[0].share == pytest.approx(1.0)
    over_all = importance_data(view, None, None)
    assert over_all.arm is None and over_all.explained is not None
    assert [effect.name for effect in over_all.explained.effects] == ["arm", "β"] and over_all.trials == 12
    # The mean of manual β is MIB's 0.7: arms explain nothing.
    assert [effect.share for effect in over_all.explained.effects] == pytest.approx([0.0, 1.0], abs=1e-6)
    drawn = draw_importance(alone, "r")
    assert drawn["layout"]["meta"]["summary"] == (
        "100 % of the variance of accuracy is explained by β (100 % to 100 %), under 1 % by no single parameter."
    )
    assert (
        drawn["data"][0]["x"] == pytest.approx([1.0, 0.0], abs=1e-6)
        and drawn["data"][0]["marker"]["color"] == "#0072B2"
    )


def test_of_parameters_that_explain_as_much_the_first_is_named_whatever_rounding_says() -> None:
    data = importance_data(graded(), "accuracy", "manual β")
    assert data.explained is not None
    (beta,) = data.explained.effects
    equal = [beta._replace(name="left", share=0.7 / 3), beta._replace(name="right", share=0.7 / 3 + 1e-16)]
    assert equal[0].share < equal[1].share
    drawn = draw_importance(data._replace(explained=data.explained._replace(effects=equal)), "r")
    assert "is explained by left" in drawn["layout"]["meta"]["summary"]


def test_failed_trials_and_nulls_are_not_explained() -> None:
    view = graded()
    first, second, *_ = view.trials
    play(view, first, accuracy(0.1), end="trial_failed")
    play(view, second, accuracy(None))
    assert importance_data(view, None, "manual β").trials == 7


def test_too_few_trials_are_told_so() -> None:
    drawn = draw_importance(importance_data(graded(seeds=2), None, "manual β"), "r")
    assert (
        drawn["layout"]["meta"]["empty"] == "Too few trials: 6 of the 8 that are needed."
        and drawn["data"][0]["x"] == []
    )


def test_a_metric_that_is_the_same_everywhere_is_told_so() -> None:
    view = bottleneck_of(MANUAL, seeds=[0, 1, 2])
    for trial in view.trials:
        play(view, trial, accuracy(0.5))
    assert draw_importance(importance_data(view, None, None), "r")["layout"]["meta"]["empty"] == (
        "accuracy is the same in all 9 trials."
    )


def test_only_arms_in_which_something_varies_are_offered() -> None:
    metric, arm = controls(graded())
    assert [value for value, _ in arm.options] == ["*", "manual β"] and arm.default == "*"
    assert metric.default == "accuracy" and "epoch" not in [value for value, _ in metric.options]
    with pytest.raises(InvalidInput, match="arm must be one of"):
        importance_data(graded(), None, "nobody")


def test_a_study_in_which_nothing_varies_has_no_importance() -> None:
    assert "importance" not in figures_of(study_of())
    assert "importance" in figures_of(bottleneck_of(MANUAL))


def test_parameters_that_cancel_each_other_leave_no_negative_rest() -> None:
    """y = a + b where b is −a in most trials: without either, more would be left than there is."""
    a = [float(i % 4) for i in range(32)]
    b = [-value if i % 5 else -((value + 1) % 4) for i, value in enumerate(a)]
    found = explained([x + y for x, y in zip(a, b, strict=True)], {"a": a, "b": b}, ["arm"] * 32)
    assert found is not None and sum(effect.share for effect in found.effects) > 1.0
    assert found.rest == 0.0


def test_numbers_that_all_differ_are_cut_into_bins_of_equal_counts() -> None:
    groups, binned = levels_of([2.0**i for i in range(30)])
    assert binned and [groups.tolist().count(level) for level in range(6)] == [5] * 6


# Parameters that vary together


def mixed(steps: int, seeds: int = 3, tasks: int = 2) -> StudyView:
    """A grid over the simplex whose accuracy the mixture decides, up to a little noise of the seed."""
    problem = {"name": "multitask", "main": "left", "auxiliaries": ["right", "rotation"][: tasks - 1]}
    arm = {"name": "mix", "problem": problem, "weighting": {"name": "fixed", "simplex": steps}}
    view = study_of(arm, seeds=list(range(seeds)))
    for trial_id, trial in view.trials.items():
        weights = [w for key, w in trial.planned.config.items() if key.startswith("weighting.weights.")]
        square = sum(float(str(w)) ** 2 for w in weights)
        play(view, trial_id, accuracy(0.9 - 0.1 * square + 0.005 * (trial.planned.seed - 1)))
    return view


def test_two_weights_of_one_simplex_are_one_row_that_explains_what_they_do() -> None:
    data = importance_data(mixed(steps=4), None, None)
    assert data.explained is not None
    (effect,) = data.explained.effects
    assert (effect.name, effect.levels) == ("weights of left and right", 5)
    assert effect.share > 0.98 and data.explained.rest < 0.02


def test_three_weights_of_one_simplex_are_one_row_though_none_is_given_by_one_other() -> None:
    data = importance_data(mixed(steps=5, tasks=3), None, None)
    assert data.explained is not None
    (effect,) = data.explained.effects
    assert (effect.name, effect.levels, effect.binned) == ("weights of left, right and rotation", 21, False)
    assert effect.share > 0.98


def test_mixtures_tried_once_each_are_binned_into_cells_of_about_equal_counts() -> None:
    data = importance_data(mixed(steps=9, seeds=1, tasks=3), None, None)
    assert data.explained is not None
    (effect,) = data.explained.effects
    assert effect.binned and effect.levels == 55 // 5
    assert effect.share > 0.6, "cells are coarse, but what they explain is no interaction"


def test_parameters_that_vary_one_to_one_share_a_row_and_others_do_not() -> None:
    rng = np.random.default_rng(0)
    free = rng.random(30).tolist()
    columns: dict[str, list[Any]] = {
        "a": free,
        "a squared": [value * value for value in free],
        "b": rng.random(30).tolist(),
        "kind": ["x", "y", "z"] * 10,
        "size": [1, 2, 4] * 10,
    }
    assert varying_together(columns, ["arm"] * 30, []) == [["a", "a squared"], ["b"], ["kind", "size"]]
    assert varying_together(columns, ["arm"] * 30, [["b", "kind"]]) == [["a", "a squared"], ["b", "kind", "size"]]


def test_parameters_that_are_tied_in_one_arm_share_a_row_in_all() -> None:
    """In the second arm one of them is missing; on its own it would explain nothing of the first."""
    columns: dict[str, list[Any]] = {"p": [1, 2] * 8, "q": [5, 6] * 4 + [None] * 8}
    assert varying_together(columns, ["one"] * 8 + ["two"] * 8, []) == [["p", "q"]]


def test_a_parameter_that_does_not_vary_is_tied_to_nothing() -> None:
    columns: dict[str, list[Any]] = {"p": [1] * 8, "q": [2] * 8}
    assert varying_together(columns, ["one"] * 8, []) == [["p"], ["q"]]
