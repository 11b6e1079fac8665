"""What chooses never sees what is claimed: fronts, best values and the verdict's place by two splits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from service.analysis import cost, hypervolume, nondominated, points_of
from service.analysis.candidates import candidates, chooser, front_ids, objectives
from service.analysis.compared import compared
from service.analysis.readings import pooled
from service.contract.study.outcomes import collapsed
from service.views.fold import StudyView
from tests.service.studies import MANUAL, MIB, TASKS, bottleneck_of, event, play, study_of, tell

HELD = {"name": "digits", "validation_fraction": 0.2}
# Of three βs: (I(X;Z), I(Z;Y), accuracy) on validation, then on test. The third is best on test, not on validation.
VALIDATION = [(4.0, 1.0, 0.7), (8.0, 2.0, 0.9), (9.0, 1.9, 0.8)]
TEST = [(4.5, 0.9, 0.6), (8.5, 1.5, 0.7), (8.0, 2.5, 0.95)]


def reported(held: tuple[float, ...] | None, shown: tuple[float, ...]) -> dict[str, float | None]:
    names = ("i_xz_bits", "i_zy_bits", "accuracy")
    own: dict[str, float | None] = dict(zip(names, shown, strict=True))
    return own | {f"validation_{name}": value for name, value in zip(names, held or (), strict=bool(held))}


def played(*, held: bool = True, **spec: Any) -> StudyView:
    view = bottleneck_of(MANUAL, seeds=[0], **{"data": HELD, **spec})
    for trial, validation, test in zip(view.trials, VALIDATION, TEST, strict=True):
        play(view, trial, [reported(validation if held else None, test)])
    return view


def test_the_front_is_chosen_on_validation_and_claimed_on_test() -> None:
    view = played()
    trials = list(view.trials)
    assert front_ids(view) == set(trials[:2]) and chooser(view) == "validation"
    points = points_of(candidates(view), objectives(view))
    assert [point.values for point in nondominated(points, objectives(view))] == [(4.5, 0.9), (8.5, 1.5)]
    assert hypervolume(points, objectives(view)) == pytest.approx(4.0 * 0.9 + 23.5 * 1.5), "the third is not in it"


def test_the_best_is_the_test_value_of_what_validation_calls_the_best() -> None:
    (arm,) = compared(played()).arms
    assert arm.result.best == {"i_xz_bits": 4.5, "i_zy_bits": 1.5, "accuracy": 0.7}
    flattered = {"i_xz_bits": 0.5, "i_zy_bits": (0.1 + 0.5) / 2}
    assert arm.result.optimism == pytest.approx(flattered), "both βs of the front looked better to what chose them"


def test_what_an_arm_reaches_is_the_mean_over_seeds_of_each_seeds_best() -> None:
    """Seed by seed validation prefers the second β; the best of all seeds is that of the luckiest."""
    view = bottleneck_of(MANUAL, seeds=range(3), data=HELD)
    for trial in view.trials.values():
        place, seed = [0.01, 0.1, 1.0].index(trial.planned.config["weighting.beta"]), trial.planned.seed
        held, shown = (tuple(value + 0.01 * seed for value in split[place]) for split in (VALIDATION, TEST))
        play(view, trial.planned.id, [reported(held, shown)])
    (arm,) = compared(view).arms
    assert arm.result.best["accuracy"] == pytest.approx(0.72)
    reached = arm.result.best_over_seeds["accuracy"]
    assert (reached.mean, reached.low, reached.high, reached.seeds) == pytest.approx((0.71, 0.7, 0.72, 3))
    assert reached.half_width == pytest.approx(4.303 * 0.01 / 3**0.5, rel=1e-3)


def test_epsilon_and_igd_plus_are_of_the_points_that_validation_chose() -> None:
    """Of the grid these are (4.5, 0.9) and (8.5, 1.5), with units 4 and 0.6; its third β shows a better (8, 2.5)."""
    view = bottleneck_of(MANUAL, MIB, seeds=[0], data=HELD)
    for trial, held, shown in zip(view.trials, [*VALIDATION, (6.0, 1.2, 0.8)], [*TEST, (8.2, 2.0, 0.8)], strict=True):
        play(view, trial, [reported(held, shown)])
    grid, mib = (arm.place.indicators for arm in compared(view).arms)
    assert grid.epsilon.mean == pytest.approx(0.5 / 0.6), "what its second β has less than MIB"
    assert grid.igd_plus.mean == pytest.approx(np.hypot(0.3 / 4, 0.5 / 0.6) / 3)
    assert mib.epsilon.mean == pytest.approx(3.7 / 4) and mib.igd_plus.mean == pytest.approx(3.7 / 4 / 3)


def test_the_arm_that_the_verdict_is_about_is_chosen_on_validation() -> None:
    """UW looks best to what chooses, MGDA on test: the best of many claimed values would flatter."""
    rivals = [{"name": name, "weighting": {"name": name.lower()}} for name in ("UW", "MGDA")]
    view = bottleneck_of(MANUAL, *rivals, seeds=[0], data=HELD)
    grid = iter([(4.0, 1.0), (8.0, 2.0), (12.0, 3.0)])
    at = {"UW": ((6.0, 1.9), (6.0, 1.3)), "MGDA": ((6.0, 1.6), (6.0, 2.5))}
    for trial in view.trials.values():
        place = None if trial.planned.arm in at else next(grid)
        held, shown = at.get(trial.planned.arm, (place, place))
        assert held is not None and shown is not None
        play(view, trial.planned.id, [reported((*held, 0.5), (*shown, 0.5))])
    tell(view, event("study_finished"))
    assert compared(view).verdict.startswith("UW is not shown to lie off")


def test_a_study_may_choose_on_test_and_says_so() -> None:
    view = played(selection="test")
    trials = list(view.trials)
    assert front_ids(view) == {trials[0], trials[2]} and chooser(view) == compared(view).chooser == "test"
    (arm,) = compared(view).arms
    assert arm.result.best["accuracy"] == 0.95 and arm.result.optimism == {}


def test_what_only_some_arms_report_is_chosen_by_what_it_shows_unless_it_is_claimed_of_these_alone() -> None:
    plain = {"problem": TASKS, "weighting": {"name": "uniform"}}
    other = {**plain, "problem": {**TASKS, "auxiliaries": ["exemplar"]}}
    goals = [{"metric": "accuracy_left", "goal": "maximize"}, {"metric": "loss_left", "goal": "minimize"}]
    study = study_of({"name": "two", **plain}, {"name": "one", **other}, objectives=goals).study
    two, one = study.arms
    left, right = "accuracy_left", "accuracy_right"
    assert right in study.metrics_of(two) and right not in study.metrics_of(one)
    assert (study.chosen_by(left), study.chosen_by(right)) == (f"validation_{left}", right)
    assert (study.chosen_by(right, [two]), study.chosen_by(right, [one])) == (f"validation_{right}", right)


@pytest.mark.parametrize("spec", [{}, {"data": {"name": "digits", "validation_fraction": 0}}])
def test_a_log_without_a_held_out_split_is_chosen_by_what_it_shows_and_says_so(spec: dict[str, Any]) -> None:
    view = played(held=False, **spec)
    assert len(front_ids(view)) == 2 and chooser(view) == "test"


def test_a_problem_without_a_split_has_no_chooser() -> None:
    toy = {"name": "a", "problem": {"name": "toy"}, "weighting": {"name": "fixed"}}
    view = bottleneck_of(toy, seeds=[0], data=HELD)
    play(view, next(iter(view.trials)), [{"f1": 0.5, "f2": 0.5}])
    assert chooser(view) is None and len(front_ids(view)) == 1


def test_a_trial_that_lacks_what_chooses_is_not_chosen() -> None:
    view = bottleneck_of(MANUAL, seeds=[0], data=HELD)
    for trial, held in zip(view.trials, (4.0, None, 9.0), strict=True):
        play(view, trial, [{**reported((4.0, 1.0, 0.7), (4.5, 0.9, 0.6)), "validation_i_xz_bits": held}])
    assert len(points_of(candidates(view), objectives(view))) == 2


def test_a_code_collapses_by_the_split_that_chooses() -> None:
    shown = {"i_xz_bits": 3.0, "i_zy_bits": 1.0, "i_zy_bits_stderr": 0.1}
    assert not collapsed(shown) and collapsed({**shown, "validation_i_xz_bits": 0.01})
    assert collapsed({**shown, "validation_i_zy_bits": 0.05, "validation_i_zy_bits_stderr": 0.1})


def test_a_search_is_told_what_the_validation_split_says() -> None:
    assert played().study.choosing == ["validation_i_xz_bits", "validation_i_zy_bits"]
    assert played(selection="test").study.choosing == ["i_xz_bits", "i_zy_bits"]
    assert bottleneck_of(MANUAL, MIB, data={"name": "digits", "validation_fraction": 0}).study.choosing == [
        "i_xz_bits",
        "i_zy_bits",
    ]


def test_points_that_dominate_each_other_where_they_are_shown_are_pooled_not_dropped() -> None:
    front = np.array([[1.0, 3.0], [2.0, 2.0], [4.0, 1.0]])
    assert pooled(front) == [[0], [1], [2]]
    assert pooled(np.array([[1.0, 3.0], [4.0, 1.0], [2.0, 5.0], [3.0, 0.0]])) == [[0, 2], [3, 1]]
    assert pooled(np.array([[1.0, 1.0], [1.0, 1.0]])) == [[0, 1]]


CLAIMED = re.compile(r"lies (slightly )?(above|below)|is (slightly )?(better|worse) than|reaches (more|less)")
MOST = 0.08  # of studies of equal arms in which a verdict may claim a difference: tests at 5 %, and a few studies' luck


class Shape(NamedTuple):
    betas: int
    settings: int
    seeds: int


class Claims(NamedTuple):
    by_verdict: bool
    by_hypervolume: bool  # `pairs[].shown`, in the API's answer


# With how many studies each.
STUDIES = 200
# Shares of studies in which the verdict says that equal arms differ, as docs/methods.md says it.
TEN_BETAS, TEN_BETAS_ON_TEST = 0.005, 0.175
TEN_SETTINGS, TEN_SETTINGS_ON_TEST = 0.005, 0.185
TEN_TIMES = {
    "ten βs and one setting": (Shape(10, 1, 5), TEN_BETAS, TEN_BETAS_ON_TEST),
    "one β and ten settings": (Shape(1, 10, 5), TEN_SETTINGS, TEN_SETTINGS_ON_TEST),
}


def equal_trials(rng: np.random.Generator, shape: Shape) -> list[Any]:
    """What the trials of two arms that do the same but for noise measure: on validation, then on test. [N][2][2]"""
    count = (shape.betas + shape.settings) * shape.seeds
    return list(rng.normal((5.0, 2.0), 0.1, (count, 2, 2)).tolist())


def claims(measured: Sequence[Any], shape: Shape, selection: str = "validation") -> Claims:
    """What is said of a study whose trials measured this."""
    grid = {"name": "fixed", "beta": {"grid": [0.01 * (i + 1) for i in range(shape.betas)]}}
    mib = {"name": "mib", "mu": {"grid": [0.1 * (i + 1) for i in range(shape.settings)]}}
    arms = [{"name": "grid", "weighting": grid}, {"name": "automatic", "weighting": mib}]
    view = bottleneck_of(*arms, seeds=range(shape.seeds), data=HELD, baseline="grid", selection=selection)
    for trial, (held, shown) in zip(view.trials, measured, strict=True):
        play(view, trial, [reported((*held, 0.5), (*shown, 0.5))])
    tell(view, event("study_finished"))
    comparison = compared(view)
    return Claims(bool(CLAIMED.search(comparison.verdict)), any(pair.shown for pair in comparison.pairs))


@pytest.fixture
def one_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Costs are averages over random orders of a grid's trials: most of a study's time, and no part of a claim."""
    monkeypatch.setattr(cost, "ORDERS", 1)


@pytest.mark.usefixtures("one_order")
@pytest.mark.parametrize("named", TEN_TIMES)
def test_ten_times_the_trials_are_no_advantage_where_validation_chooses(named: str) -> None:
    """Read off the verdict itself; the same numbers both times."""
    rng, (shape, on_validation, on_test) = np.random.default_rng(1), TEN_TIMES[named]
    drawn = [equal_trials(rng, shape) for _ in range(STUDIES)]
    held, shown = ([claims(measured, shape, selection) for measured in drawn] for selection in ("validation", "test"))
    by_validation, by_test = (sum(each.by_verdict for each in own) / STUDIES for own in (held, shown))
    by_hypervolume = sum(each.by_hypervolume for each in held) / STUDIES
    print(
        f"{named}: the verdict says that equal arms differ in {by_validation:.1%} of {STUDIES} studies, "
        f"chosen on test in {by_test:.1%}; by hypervolume {by_hypervolume:.1%} are shown to differ"
    )
    assert (by_validation, by_test) == pytest.approx((on_validation, on_test))
    assert by_validation <= MOST and by_test > 2 * MOST and by_hypervolume == 0


@pytest.mark.usefixtures("one_order")
def test_the_verdict_claims_no_difference_between_equal_arms_of_more_seeds() -> None:
    rng, shape, studies = np.random.default_rng(1), Shape(20, 2, 10), 40
    made = [claims(equal_trials(rng, shape), shape) for _ in range(studies)]
    share = sum(each.by_verdict for each in made) / studies
    print(f"twenty βs and two settings, ten seeds: the verdict claims a difference in {share:.1%} of {studies} studies")
    assert share <= MOST and not any(each.by_hypervolume for each in made)


@pytest.mark.usefixtures("one_order")
@pytest.mark.parametrize("seeds", [1, 2])
def test_one_and_two_seeds_never_claim_a_difference(seeds: int) -> None:
    """Nor does anything far off: what is not tested is measured, not shown."""
    rng = np.random.default_rng(1)
    for shape in (Shape(10, 1, seeds), Shape(1, 10, seeds), Shape(4, 4, seeds), Shape(1, 1, seeds)):
        for better in (0.0, 3.0):
            for _ in range(5):
                measured = np.array(equal_trials(rng, shape))
                measured[shape.betas * seeds :, :, 1] += better
                assert claims(measured.tolist(), shape) == (False, False)


@pytest.mark.usefixtures("one_order")
def test_equal_fronts_of_as_many_points_are_seldom_shown_to_differ() -> None:
    rng, shape, studies = np.random.default_rng(2), Shape(4, 4, 5), 60
    made = [claims(equal_trials(rng, shape), shape) for _ in range(studies)]
    shown, said = (sum(each[i] for each in made) / studies for i in (1, 0))
    print(f"four βs and four settings: by hypervolume {shown:.1%} of {studies} differ, the verdict says {said:.1%}")
    assert 0 < shown <= MOST and said <= MOST
