"""Does the mean cosine rank studies by what weighting gains? By studies whose gains are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from service.analysis.compared import compared
from service.analysis.intervals import mean_interval
from service.analysis.rank_correlation import spearman
from service.analysis.weighting_gains import Gain, ranked, weighting_gains
from service.views.fold import StudyView
from tests.service.studies import event, play, study_of, tell

ARMS = [
    {"name": "grid", "weighting": {"name": "fixed", "weights": {"right": {"grid": [0.5, 2.0]}}}},
    {"name": "uniform", "weighting": {"name": "uniform"}},
    {"name": "MGB", "weighting": {"name": "mgb"}},
    {"name": "UW", "weighting": {"name": "uw"}},
]
# (accuracy of left, of right): the grid draws the line from (0.5, 0.9) to (0.9, 0.5), uniform lies 0.1 below it
PLACES: dict[str, list[tuple[float, float]]] = {"grid": [(0.5, 0.9), (0.9, 0.5)], "uniform": [(0.65, 0.65)]}
ONE_TASK = [
    {"metric": "accuracy_left", "goal": "maximize"},
    {"metric": "test_loss_left", "goal": "minimize"},
]
UNHELD = {"name": "overlaid", "validation_fraction": 0}
Values = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=3, max_size=9)


def studied(
    cosine: float | None,
    gain: float,
    validation: Mapping[str, float] | None = None,
    failed: str = "",
    more: Sequence[dict[str, Any]] = (),
) -> StudyView:
    """MGB lies at (0.7 + gain)², UW at 0.72; `validation` moves an arm's held-out values, one arm may have `failed`
    in all seeds but the first. `more` arms, such as single tasks, lie at (0.1, 0.1)."""
    data = {"name": "overlaid", "validation_fraction": 0.2 if validation is not None else 0.0}
    view = study_of(*ARMS, *more, seeds=(0, 1, 2), data=data, evaluation={"gradients": True})
    places = {**PLACES, "MGB": [(0.7 + gain, 0.7 + gain)], "UW": [(0.72, 0.72)]}
    for trial in view.trials.values():
        own = places.get(trial.planned.arm, [(0.1, 0.1)])
        is_second = trial.planned.arm == "grid" and trial.planned.config["weighting.weights.right"] == 2.0
        left, right = own[1 if is_second else 0]
        metrics: dict[str, float | None] = {"accuracy_left": left, "accuracy_right": right, "cosine_left_right": cosine}
        for name, value in (("accuracy_left", left), ("accuracy_right", right)) if validation is not None else ():
            metrics[f"validation_{name}"] = value + (validation or {}).get(trial.planned.arm, 0.0)
        fails = trial.planned.arm == failed and trial.planned.seed > 0
        play(view, trial.planned.id, [metrics], end="trial_failed" if fails else "trial_finished")
    tell(view, event("study_finished"))
    return view


def test_a_gain_is_measured_against_the_baseline_and_against_uniform() -> None:
    (study,) = weighting_gains([studied(-0.2, 0.05)]).studies
    assert study.cosine.mean == pytest.approx(-0.2) and study.automatic == 2
    assert study.over_baseline.arm == "MGB" and (study.over_baseline.gain.mean or 0.0) > 0
    assert study.over_uniform.arm == "MGB"
    assert study.over_uniform.gain.mean == pytest.approx((0.75 - 0.65) / 0.4), "in units of the accuracies' range"
    worse = weighting_gains([studied(-0.2, -0.2)]).studies[0].over_uniform
    assert worse.arm == "UW" and worse.gain.mean == pytest.approx((0.72 - 0.65) / 0.4), "the best there is"


def test_among_arms_between_step_and_line_the_line_chooses() -> None:
    """On validation both gain nothing, MGB at 0.6 and UW at 0.67: the order of the study has no say."""
    (study,) = weighting_gains([studied(-0.2, 0.0, validation={"MGB": -0.1, "UW": -0.05})]).studies
    assert study.over_baseline.arm == "UW"


def test_single_tasks_have_no_say_in_a_gain() -> None:
    single = {"name": "alone", "weighting": {"name": "single"}}
    (without,), (with_it,) = (weighting_gains([studied(-0.2, 0.05, more=m)]).studies for m in ([], [single]))
    assert with_it == without, "neither in the units nor among the arms to choose from"


def test_uniform_weights_are_those_of_the_same_terms() -> None:
    """The main task alone is weighted uniformly too, and says nothing of what weighting gains."""
    main = {"name": "main alone", "problem": {"name": "multitask", "main": "left"}, "weighting": {"name": "uniform"}}
    view = study_of(main, *ARMS[1:], seeds=(0, 1, 2), objectives=ONE_TASK, data=UNHELD)
    for trial in view.trials.values():
        left = {"main alone": 0.9, "uniform": 0.6, "MGB": 0.7, "UW": 0.5}[trial.planned.arm]
        play(view, trial.planned.id, [{"accuracy_left": left, "test_loss_left": 1 - left}])
    (study,) = weighting_gains([view]).studies
    assert study.over_uniform.arm == "MGB" and (study.over_uniform.gain.mean or 0.0) > 0


def test_a_gain_without_an_interval_is_not_ranked() -> None:
    cosine = mean_interval([0.1, 0.1, 0.2])
    rows = [(cosine, Gain("a", mean_interval(gains))) for gains in ([0.3, 0.3, 0.4], [0.9, 0.8], [0.2, 0.1, 0.3])]
    assert ranked(rows).n == 2


def test_the_best_arm_is_chosen_by_validation_and_claimed_on_test() -> None:
    (study,) = weighting_gains([studied(-0.2, 0.05, {"UW": 0.2})]).studies
    assert study.over_uniform.arm == study.over_baseline.arm == "UW"
    assert study.over_uniform.gain.mean == pytest.approx((0.72 - 0.65) / 0.4)


def test_one_lucky_seed_is_not_chosen_over_a_mean_of_three() -> None:
    (study,) = weighting_gains([studied(-0.2, 0.2, failed="MGB")]).studies
    assert study.over_uniform.arm == study.over_baseline.arm == "UW"


def test_studies_are_ranked_by_cosine_and_gain_where_both_are_known() -> None:
    views = [studied(0.3, 0.03), studied(-0.1, 0.06), studied(-0.5, 0.09), studied(None, 0.2)]
    ranked = weighting_gains(views)
    for correlation in (ranked.over_uniform, ranked.over_baseline):
        assert correlation.rho == pytest.approx(-1) and correlation.n == 3
    assert ranked.studies[3].cosine.mean is None
    assert weighting_gains(views[:2]).over_uniform == (None, 2), "two points are always ranked"


def test_a_study_without_uniform_weights_or_automatic_ones_has_no_gain() -> None:
    view = study_of(ARMS[0], seeds=[0])
    for trial in view.trials:
        play(view, trial, [{"accuracy_left": 0.5, "accuracy_right": 0.5}])
    (study,) = weighting_gains([view]).studies
    assert study.over_baseline.arm is study.over_uniform.arm is None


@pytest.mark.parametrize("named", [None, "MGB"])
def test_what_one_automatic_arm_is_better_by_than_another_is_no_gain_of_weighting(named: str | None) -> None:
    """Where no arm is weighted by hand, or the study names an automatic one, the baseline is automatic."""
    view = study_of(*ARMS[2:], seeds=(0, 1, 2), data=UNHELD, baseline=named)
    for trial in view.trials.values():
        at = 0.8 if trial.planned.arm == "UW" else 0.6
        play(view, trial.planned.id, [{"accuracy_left": at, "accuracy_right": at + 0.01 * trial.planned.seed}])
    assert compared(view).baseline == (named or "UW")
    (study,) = weighting_gains([view]).studies
    assert study.automatic == 2 and study.over_baseline == (None, mean_interval([]))


@given(Values)
def test_the_rank_correlation_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    x, y = zip(*pairs, strict=True)
    found = spearman([(float(a), float(b)) for a, b in pairs])
    assert found.n == len(pairs)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert found.rho is None
    else:
        assert found.rho == pytest.approx(scipy.stats.spearmanr(x, y).statistic, abs=1e-12)
