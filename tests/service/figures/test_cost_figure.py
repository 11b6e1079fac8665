"""Hypervolume against cost: places, curves and what the grid spends for an automatic arm's hypervolume."""

from __future__ import annotations

import pytest

from service.contract.wire.errors import InvalidInput
from service.figures.figure import Asked
from service.figures.hypervolume_cost import cost_data, draw_cost, figure, reach_words
from service.views.fold import StudyView
from tests.service.studies import MIB, bottleneck_of, play

GRID = {"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": [0.01, 0.1]}}}
TUNED = {"name": "MIB", "weighting": {"name": "mib", "mu": {"grid": [0.1, 0.2]}}}


def ended(view: StudyView, trial: str, seconds: float, x: float, y: float) -> None:
    play(view, trial, [{"seconds": seconds, "i_xz_bits": x, "i_zy_bits": y}])


def drawing(view: StudyView, seconds: float, *labels: float) -> None:
    """The last trials draw a front of two points in each seed, the second of which costs and adds nothing."""
    seeds = len(labels)
    *_, own = view.trials.values()
    trials = [trial for trial, each in view.trials.items() if each.planned.arm == own.planned.arm]
    for trial, y in zip(trials, [*labels, *(y + 1 for y in labels)], strict=True):
        is_first = trial in trials[:seeds]
        ended(view, trial, seconds if is_first else 0, 10 if is_first else 32, y)


def compared() -> StudyView:
    """Volumes from (32, 0): the grid's two trials of a seed have 22·1 and 22·2, MIB has 22·1.5."""
    view = bottleneck_of(GRID, MIB)
    for trial, seconds, y in zip(view.trials, (2, 2, 4, 4, 1, 3), (1, 1, 2, 2, 1.5, 1.5), strict=True):
        ended(view, trial, seconds, 10, y)
    return view


def test_an_arm_with_one_trial_per_seed_is_a_place() -> None:
    grid, mib = cost_data(compared(), None).arms
    assert grid.place is None and mib.place is not None
    cost, volume = mib.place
    assert (cost.mean, cost.seeds, volume.mean, volume.half_width) == (2, 2, 33, None)
    assert (cost.low, cost.high, cost.half_width) == (1, 3, None), "two seeds are two values, no interval"


def test_a_grid_is_a_curve_over_seconds_or_trials() -> None:
    view = compared()
    by_seconds, by_trials = (cost_data(view, x).arms[0] for x in (None, "trials"))
    assert (by_trials.cost, by_trials.mean[-1], by_seconds.cost[-1]) == ([1, 2], 44, 6)
    assert 2 <= by_seconds.cost[0] <= 4 and 22 <= by_seconds.mean[0] <= 44, "one of the two, in random order"


def tuned(grid: tuple[float, ...], *labels: float) -> StudyView:
    """A grid of two βs, and an arm that draws a front with settings of its own; two seeds, or one."""
    view = bottleneck_of(GRID, TUNED, seeds=range(len(labels)))
    for trial, y in zip(list(view.trials), grid, strict=False):
        ended(view, trial, 2, 10, y)
    drawing(view, 1, *labels)
    return view


def test_one_point_has_a_hypervolume_that_nothing_is_as_good_by() -> None:
    """It says where the point lies: at a grid's end it is small however good the point is there."""
    data = cost_data(compared(), "trials")
    assert (data.reached, data.never) == ([], [])
    drawn = draw_cost(data, "r")
    assert drawn["layout"]["meta"]["summary"] == "Hypervolume at the end: manual β 44.0."
    assert not any(trace.get("line", {}).get("dash") == "dot" for trace in drawn["data"])


def test_a_dotted_line_ends_where_the_grid_has_the_automatic_arms_hypervolume() -> None:
    view = tuned((1, 1, 2, 2), 1.5, 1.5)
    (reach,) = cost_data(view, "trials").reached
    assert (reach.arm, reach.baseline, reach.hypervolume, reach.start) == ("MIB", "manual β", 33, 2)
    assert reach.cost.mean is not None and 1 <= reach.cost.mean <= 2
    assert (reach.seeds, reach.of) == (2, 2)
    dotted = next(
        t for t in draw_cost(cost_data(view, "trials"), "r")["data"] if t.get("line", {}).get("dash") == "dot"
    )
    assert dotted["y"] == [33, 33] and dotted["x"][0] == 2 and dotted["name"] == "manual β with MIB’s hypervolume"
    assert dotted["text"][1] == reach_words(reach, "trials") == "manual β needs 2 trials"


def test_what_the_grid_never_reaches_has_no_line_and_is_said() -> None:
    data = cost_data(tuned((1, 1), 3), None)
    assert (data.reached, data.never) == ([], [("manual β", "MIB")])
    meta = draw_cost(data, "r")["layout"]["meta"]
    assert meta["summary"] == "manual β never reaches the hypervolume of MIB."
    assert meta["subtitle"].startswith("one seed, no interval")


def test_reaching_it_in_some_seeds_only_is_said() -> None:
    (reach,) = cost_data(tuned((1, 1, 1, 1), 0.5, 3), None).reached
    assert reach_words(reach, "seconds") == "manual β needs 2.0 s, in 1 of 2 seeds"


def test_a_baseline_of_one_trial_has_no_cost_to_choose() -> None:
    view = bottleneck_of({"name": "by hand", "weighting": {"name": "fixed", "beta": 0.1}}, MIB, seeds=[0])
    for trial, y in zip(view.trials, (2, 1), strict=True):
        ended(view, trial, 1, 10, y)
    data = cost_data(view, None)
    assert (data.reached, data.never) == ([], []) and all(arm.place for arm in data.arms)


def test_words_that_would_cover_each_other_are_said_once() -> None:
    others = [{**TUNED, "name": name} for name in ("near", "far")]
    view = bottleneck_of(GRID, TUNED, *others, seeds=[0])
    first, nothing = [(10, y) for y in (0.5, 3, 1.5, 1.51, 2.5)], (32, 4)
    places = [*first[:3], nothing, first[3], nothing, first[4], nothing]
    for trial, (x, y) in zip(view.trials, places, strict=True):
        ended(view, trial, 2, x, y)
    drawn = draw_cost(cost_data(view, None), "r")["data"]
    modes = {trace["name"]: trace["mode"] for trace in drawn if trace.get("line", {}).get("dash") == "dot"}
    assert modes == {
        "manual β with MIB’s hypervolume": "lines+text",
        "manual β with near’s hypervolume": "lines",
        "manual β with far’s hypervolume": "lines+text",
    }


def test_an_arm_without_a_value_of_an_objective_has_no_hypervolume_to_draw() -> None:
    none = {
        "name": "none",
        "problem": {"name": "bottleneck", "rate": "none"},
        "weighting": {"name": "fixed", "beta": 0},
    }
    view = bottleneck_of(none, MIB, seeds=[0])
    plain, mib = view.trials
    play(view, plain, [{"seconds": 1.0, "i_xz_bits": None, "i_zy_bits": 2.0}])
    ended(view, mib, 1, 10, 1)
    drawn = draw_cost(cost_data(view, None), "r")
    assert [trace["name"] for trace in drawn["data"]] == ["MIB"]


def test_collapsed_trials_cost_and_bring_nothing() -> None:
    view = bottleneck_of(MIB)
    for trial in view.trials:
        ended(view, trial, 4, 0.001, 0)
    (arm,) = cost_data(view, None).arms
    assert arm.place is not None and (arm.place[0].mean, arm.place[1].mean) == (4, 0)


def test_the_cost_is_seconds_or_trials() -> None:
    with pytest.raises(InvalidInput, match="x must be one of seconds, trials, got 'epochs'"):
        figure(Asked(bottleneck_of(), "epochs"))


def test_costs_far_apart_have_a_log_axis() -> None:
    view = bottleneck_of(GRID, MIB, seeds=[0])
    for trial, seconds in zip(view.trials, (100, 100, 1), strict=True):
        ended(view, trial, seconds, 10, 1)
    assert draw_cost(cost_data(view, None), "r")["layout"]["xaxis"]["type"] == "log"
    assert "type" not in draw_cost(cost_data(view, "trials"), "r")["layout"]["xaxis"]


def test_while_trials_report_but_none_has_ended_the_figure_says_what_it_waits_for() -> None:
    view = bottleneck_of(MIB)
    play(view, next(iter(view.trials)), [{"i_xz_bits": 2.0, "i_zy_bits": 1.0}], end="")
    drawn = figure(Asked(view))
    assert not any(trace["x"] for trace in drawn["data"])
    assert drawn["layout"]["meta"]["empty"] == "A curve begins with the first trial that has ended."


def test_only_automatic_arms_ask_what_the_grid_spends() -> None:
    other = {"name": "other grid", "weighting": {"name": "fixed", "beta": {"grid": [0.3, 0.6]}}}
    view = bottleneck_of(GRID, other, TUNED, seeds=[0])
    for trial, y in zip(list(view.trials), (2, 3, 1, 1.2), strict=False):
        ended(view, trial, 2, 10, y)
    drawing(view, 2, 1.5)
    data = cost_data(view, None)
    assert [(reach.arm, reach.baseline) for reach in data.reached] == [("MIB", "manual β")] and data.never == []


def test_while_the_grid_is_under_way_nothing_is_said_about_what_it_never_reaches() -> None:
    view = bottleneck_of(GRID, TUNED, seeds=[0])
    first, waiting, *mib = view.trials
    ended(view, first, 2, 10, 1)
    for trial, x, y in zip(mib, (10, 32), (3, 4), strict=True):
        ended(view, trial, 2, x, y)
    data = cost_data(view, None)
    assert (data.reached, data.never) == ([], [])
    assert draw_cost(data, "r")["layout"]["meta"]["summary"] == "Hypervolume at the end: manual β 22.0, MIB 66.0."
    ended(view, waiting, 2, 10, 2)
    assert cost_data(view, None).never == [("manual β", "MIB")]


def test_the_bar_of_a_dotted_line_is_at_its_end() -> None:
    view = bottleneck_of(GRID, TUNED)
    for trial, seconds, y in zip(list(view.trials), (2, 3, 4, 7), (1, 1, 2, 2), strict=False):
        ended(view, trial, seconds, 10, y)
    drawing(view, 1, 1.5, 1.5)
    (reach,) = cost_data(view, None).reached
    dotted = next(t for t in draw_cost(cost_data(view, None), "r")["data"] if t.get("line", {}).get("dash") == "dot")
    assert reach.cost.mean and reach.cost.high and dotted["x"][1] == pytest.approx(reach.cost.mean, rel=1e-3)
    assert dotted["error_x"]["array"] == [0.0, pytest.approx(reach.cost.high - reach.cost.mean, rel=1e-3)]
