"""A trial with many points: each is a candidate, its cost is counted once, validation chooses among them."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import pytest

from service.analysis import hypervolume, nondominated, points_of
from service.analysis.candidates import candidates, front_ids, objectives, placed, spent_by_arm
from service.analysis.compared import compared
from service.analysis.place import chosen
from service.analysis.single_tasks import against_single
from service.answers.studies import front_answer, spark, study_answer
from service.contract.wire.events import Curve
from service.figures import FIGURES
from service.figures.figure import Asked
from service.views.fold import StudyView
from service.views.overlay import Overlay
from tests.service.studies import (
    ALL_BETAS,
    MANUAL,
    TASKS,
    bits,
    bottleneck_of,
    curve,
    event,
    play,
    play_curves,
    study_of,
    tell,
)

LEAST, MIDDLE, MOST = 1e-4, 1e-2, 1.0
MANY = [curve(*((10.0 ** (-4 + i / 6), 30.0 / (i + 1), 3.0 - 0.1 * i) for i in range(24))) for _ in range(5)]
FRONT = curve((LEAST, 9.0, 3.0), (MIDDLE, 4.0, 2.0), (MOST, 1.0, 1.0))


def grid_and_curve(seeds: tuple[int, ...] = (0,)) -> tuple[StudyView, list[str], list[str]]:
    """A grid of three βs and one training for all of them."""
    view = bottleneck_of(MANUAL, ALL_BETAS, seeds=seeds)
    trials = list(view.trials)
    return view, trials[: 3 * len(seeds)], trials[3 * len(seeds) :]


def test_every_place_of_a_curve_is_a_candidate_and_the_flat_metrics_are_none() -> None:
    view, _, (trial,) = grid_and_curve()
    play_curves(view, trial, FRONT, i_xz_bits=0.5, i_zy_bits=3.3)
    points = points_of(candidates(view), objectives(view))
    assert [(p.trial, p.where, p.values) for p in points] == [
        (trial, {"beta": LEAST}, (9.0, 3.0)),
        (trial, {"beta": MIDDLE}, (4.0, 2.0)),
        (trial, {"beta": MOST}, (1.0, 1.0)),
    ]
    assert len({p.key for p in points}) == 3
    assert hypervolume(points, objectives(view)) == pytest.approx((9 - 4) * 2 + (4 - 1) * 1 + (32 - 9) * 3)


def test_the_last_curve_counts() -> None:
    view, _, (trial,) = grid_and_curve()
    play_curves(view, trial, FRONT, curve((MIDDLE, 2.0, 2.0)), end="")
    tell(view, event("report", trial=trial, metrics={"epoch": 3, "i_xz_bits": 99.0}))
    assert [p.values for p in points_of(candidates(view), objectives(view))] == [(2.0, 2.0)]


def test_a_curve_without_any_measured_value_leaves_the_one_before() -> None:
    view, _, (trial,) = grid_and_curve()
    play_curves(view, trial, FRONT, [{"where": {"beta": MIDDLE}, "metrics": {}}], end="")
    assert view.trials[trial].points == FRONT


def test_places_at_which_the_code_collapsed_are_left_out_and_the_trial_only_with_all_of_them() -> None:
    view, _, (one, two) = grid_and_curve(seeds=(0, 1))
    play_curves(view, one, curve((LEAST, 9.0, 3.0), (MOST, 0.01, 0.0)))
    play_curves(view, two, curve((LEAST, 0.02, 0.0), (MOST, 0.01, 0.0)), i_xz_bits=5.0)
    assert [(trial.id, trial.where) for trial in candidates(view)] == [(one, {"beta": LEAST})]
    assert (view.trials[one].collapsed, view.trials[two].collapsed) == (False, True)


def test_a_failed_trial_has_no_points_and_a_cancelled_study_keeps_them() -> None:
    view, _, (one, two) = grid_and_curve(seeds=(0, 1))
    play_curves(view, one, FRONT, end="trial_failed")
    play_curves(view, two, FRONT, end="")
    tell(view, event("study_cancelled"))
    assert {trial.id for trial in candidates(view)} == {two} and len(candidates(view)) == 3


def test_a_trial_is_on_the_front_with_any_of_its_points() -> None:
    view, grid, (trial,) = grid_and_curve()
    for own, place in zip(grid, [(8.0, 3.5), (4.0, 2.0), (0.5, 0.5)], strict=True):
        play(view, own, bits(place))
    play_curves(view, trial, FRONT)
    assert front_ids(view) == {*grid, trial}
    answer = front_answer(view, None, None)
    assert [(p.trial, p.where, p.x) for p in answer.points] == [
        (grid[2], None, 0.5),
        (trial, {"beta": MOST}, 1.0),
        (grid[1], None, 4.0),
        (trial, {"beta": MIDDLE}, 4.0),
        (grid[0], None, 8.0),
    ]
    assert [len(arm.points) for arm in answer.arms] == [3, 3]
    by_name = {arm.name: arm.result for arm in compared(view).arms}
    assert by_name["all β"].on_front == 1, "one trial, whatever it has on the front"


def test_validation_chooses_the_point_and_the_test_split_is_claimed() -> None:
    view, _, (trial,) = grid_and_curve()
    flattered, honest = curve((LEAST, 4.0, 1.0), (MIDDLE, 4.0, 2.0))
    flattered["metrics"] |= {"validation_i_xz_bits": 4.0, "validation_i_zy_bits": 3.0}
    honest["metrics"] |= {"validation_i_xz_bits": 4.0, "validation_i_zy_bits": 2.5}
    play_curves(view, trial, [flattered, honest])
    axes = objectives(view)
    (kept,) = nondominated(points_of(candidates(view), axes), axes)
    assert (kept.where, kept.values) == ({"beta": LEAST}, (4.0, 1.0))
    assert [p.claimed.where for p in chosen(placed(view, axes), axes)] == [{"beta": LEAST}]
    (result,) = [arm.result for arm in compared(view).arms if arm.name == "all β"]
    assert result.best["i_zy_bits"] == 1.0 and result.optimism["i_zy_bits"] == pytest.approx(2.0)


def test_a_front_keeps_of_a_trial_only_the_points_that_are_on_it() -> None:
    view, _, (trial,) = grid_and_curve()
    play_curves(view, trial, curve((LEAST, 9.0, 2.0), (MIDDLE, 4.0, 2.0)))
    axes = objectives(view)
    assert [p.claimed.where for p in chosen(placed(view, axes), axes)] == [{"beta": MIDDLE}]


def test_a_training_is_paid_once_however_many_points_it_has() -> None:
    view, grid, (trial,) = grid_and_curve()
    for own in grid:
        play(view, own, [{"seconds": 10.0, "i_xz_bits": 9.0, "i_zy_bits": 3.0}])
    play_curves(view, trial, FRONT, seconds=16.0)
    (spent,) = spent_by_arm(view, objectives(view))["all β"]
    assert (spent.seconds, len(spent.points)) == (16.0, 3)
    arm = compared(view).arms[1]
    assert (arm.cost.seconds, arm.cost.trials, arm.training_seconds, arm.trained_trials) == ([16.0], [1], 16.0, 1)
    assert arm.cost.mean == [pytest.approx(arm.result.hypervolume.mean)]
    assert len(spark(view)) == 5, "a step for each trial that ended, and the start"


def test_what_a_training_took_is_known_at_every_place() -> None:
    view, _, (trial,) = grid_and_curve()
    play_curves(view, trial, FRONT, seconds=16.0)
    points = front_answer(view, "seconds", "i_zy_bits").points
    assert [(p.x, p.y, p.where) for p in points] == [(16.0, 3.0, {"beta": LEAST})]


def test_an_arm_of_curves_draws_a_front_and_amounts_to_no_setting() -> None:
    view, grid, (trial,) = grid_and_curve()
    for own, place in zip(grid, [(9.0, 3.0), (4.0, 2.0), (1.0, 1.0)], strict=True):
        play(view, own, bits(place))
    play_curves(view, trial, FRONT)
    base, arm = compared(view).arms
    assert compared(view).baseline == "manual β"
    assert (base.place.draws_front, arm.place.draws_front) == (True, True)
    assert arm.place.place.amounts_to == {} and arm.place.place.distance.told.mean == 0.0


def test_what_lies_on_the_curve_amounts_to_its_betas() -> None:
    fixed = {"name": "one", "weighting": {"name": "fixed", "beta": 0.5}}
    view = bottleneck_of(ALL_BETAS, fixed, seeds=(0,), baseline="all β")
    trial, other = view.trials
    play_curves(view, trial, FRONT)
    play(view, other, bits((4.0, 2.0)))
    assert compared(view).arms[1].place.place.amounts_to == {"weighting.beta": pytest.approx(MIDDLE)}


def test_arms_whose_curves_agree_at_every_place_are_identical() -> None:
    view = bottleneck_of(ALL_BETAS, {**ALL_BETAS, "name": "again"}, {**ALL_BETAS, "name": "elsewhere"}, seeds=(0,))
    for trial, points in zip(view.trials, (FRONT, FRONT, curve((0.5, 9.0, 3.0))), strict=True):
        play_curves(view, trial, points)
    assert compared(view).identical == [["all β", "again"]]


def test_the_drop_against_single_tasks_is_that_of_the_preference_that_validation_chooses() -> None:
    single = {"name": "alone", "weighting": {"name": "single"}}
    both = {"name": "all", "weighting": {"name": "conditional"}}
    view = study_of(both, single, seeds=(0,))
    trial, *alone = view.trials

    def measured(left: float, right: float) -> dict[str, float | None]:
        names = ("accuracy_left", "accuracy_right")
        own = dict(zip(names, (left, right), strict=True))
        return {**own, **{f"validation_{name}": value for name, value in own.items()}}

    points: Curve = [
        {"where": {"left": 0.9, "right": 0.1}, "metrics": measured(0.8, 0.4)},
        {"where": {"left": 0.5, "right": 0.5}, "metrics": measured(0.7, 0.7)},
    ]
    play_curves(view, trial, points)
    for own in alone:
        play(view, own, [measured(0.8, 0.8)])
    against = against_single(view)
    assert against is not None and TASKS["main"] in against.measures
    assert against.delta_m["all"].by_seed == {0: pytest.approx(12.5)}


def test_an_overlay_keeps_the_points() -> None:
    view, _, (trial,) = grid_and_curve()
    play_curves(view, trial, FRONT)
    laid = Overlay([view, bottleneck_of()])
    assert [(each.id, each.where) for each in candidates(laid)] == [(f"s1/{trial}", point["where"]) for point in FRONT]


def seconds_of(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def many_curves() -> StudyView:
    """300 trials of 24 points, each reported five times."""
    learning_rates = {"learning_rate": {"grid": [i / 9 for i in range(1, 61)]}}
    view = bottleneck_of(
        {**ALL_BETAS, "weighting": {"name": "conditional"}, "training": learning_rates}, seeds=range(5)
    )
    for trial in view.trials:
        play_curves(view, trial, *MANY, seconds=1.0)
    return view


def plain_trials(per_seed: int) -> StudyView:
    """Trials of one point, of five seeds, each reported five times."""
    grid = {"grid": {"from": 1e-4, "to": 1.0, "count": per_seed, "scale": "log"}}
    arm = {"name": "grid", "weighting": {"name": "fixed", "beta": grid}}
    view = bottleneck_of(arm, seeds=range(5), limits={"trials": 9_999})
    for i, trial in enumerate(view.trials):
        play(view, trial, [{**MANY[0][i % 24]["metrics"], "seconds": 1.0}] * 5)
    return view


def opened(view: StudyView) -> None:
    """What a page asks for when it is opened: the study, its front, and the figures on top."""
    study_answer(view)
    assert len(front_answer(view, None, None).points) == len(candidates(view))
    for name in ("information-plane", "pareto-front"):
        assert FIGURES[name].build(Asked(view))["data"]


def cold(view: StudyView, work: Callable[[StudyView], object]) -> float:
    view.memo.clear()
    return seconds_of(lambda: work(view))


def test_many_curves_are_read_shown_and_compared_as_fast_as_so_many_points_are() -> None:
    """7,200 points, beside 7,200 trials of one, and by the point beside 300 trials of one. By CPU time, the best of
    rounds in turns: what disturbs only adds.
    """
    made = (many_curves, partial(plain_trials, 1440), partial(plain_trials, 60))
    built: list[StudyView] = []

    def build(make: Callable[[], StudyView]) -> None:
        built.append(make())

    steps = [[seconds_of(partial(build, make)) for make in made]]
    assert [len(candidates(view)) for view in built] == [7200, 7200, 300]
    for work in (opened, compared):
        rounds = [[cold(view, work) for view in built] for _ in range(3)]
        steps.append([min(seconds) for seconds in zip(*rounds, strict=True)])
    for step, (curves, trials, few) in zip(("read", "shown", "compared"), steps, strict=True):
        assert curves < 1.5 * trials, f"{step}: {curves / trials:.2f} times"
        assert curves < 24 * few, f"{step}: {curves / few:.2f} times"
