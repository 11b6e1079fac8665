"""Figures just at their limits, where one more changes how they are drawn; and what only few studies have."""

from __future__ import annotations

from typing import Any

import pytest

from service.analysis.variance import LEAST_TRIALS
from service.figures import FIGURES, beta_sensitivity, generalization_gap, information_plane
from service.figures.attainment_difference import difference_data, draw_difference
from service.figures.beta_sensitivity import draw_sensitivity, sensitivity_data
from service.figures.figure import Asked
from service.figures.generalization_gap import draw_gap, gap_data
from service.figures.hypervolume_cost import cost_data, draw_cost
from service.views.fold import StudyView
from tests.service.studies import MIB, bottleneck_of, play


def grid(*betas: float) -> dict[str, Any]:
    return {"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": list(betas)}}}


def played(*arms: dict[str, Any], seeds: int = 3) -> StudyView:
    view = bottleneck_of(*arms, seeds=range(seeds))
    for i, trial in enumerate(view.trials):
        label = 1.0 + 0.1 * i
        own = {"i_xz_bits": 3.0 + i, "i_zy_bits": label, "accuracy": 0.3 * label, "generalization_gap": 0.01 * i}
        play(view, trial, [{"seconds": 1.0, **own}])
    return view


def filled(drawn: Any) -> int:
    return sum("fill" in trace for trace in drawn["data"])


def test_as_many_means_as_may_have_bars_have_them_and_one_more_is_an_area(monkeypatch: pytest.MonkeyPatch) -> None:
    view = played(grid(0.1, 0.2, 0.4))
    for most, areas in ((3, 0), (2, 1)):
        monkeypatch.setattr(beta_sensitivity, "MOST_BARS", most)
        drawn = draw_sensitivity(sensitivity_data(view, None, None), "r")
        means = drawn["data"][-1]
        assert filled(drawn) == areas and ("array" in means["error_y"]) is (areas == 0)


def test_as_many_trials_as_may_be_dots_are_dots(monkeypatch: pytest.MonkeyPatch) -> None:
    view = played(grid(0.1, 0.2))
    for most, shown in ((6, 6), (5, 0)):
        monkeypatch.setattr(beta_sensitivity, "MOST_DOTS", most)
        monkeypatch.setattr(generalization_gap, "MOST_DOTS", most)
        for drawn in (draw_sensitivity(sensitivity_data(view, None, None), "r"), draw_gap(gap_data(view), "r")):
            assert max(len(trace.get("customdata", [])) for trace in drawn["data"]) == shown
            assert ("single trials not drawn" in drawn["layout"]["meta"]["subtitle"]) is (shown == 0)


def test_the_gap_has_bars_up_to_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    view = played(grid(0.1, 0.2, 0.4))
    for most, barred, size in ((3, True, 8), (2, False, 5)):
        monkeypatch.setattr(generalization_gap, "MOST_BARS", most)
        means = draw_gap(gap_data(view), "r")["data"][-1]
        assert ("error_x" in means and "error_y" in means) is barred and means["marker"]["size"] == size


def test_a_collapsed_code_does_not_make_the_gaps_axis_logarithmic() -> None:
    view = bottleneck_of(grid(0.1, 0.2, 0.4), seeds=[0])
    for trial, rate in zip(view.trials, (0.001, 4.0, 8.0), strict=True):
        play(view, trial, [{"i_xz_bits": rate, "i_zy_bits": 1.0, "accuracy": 0.5, "generalization_gap": 0.1}])
    drawn = draw_gap(gap_data(view), "r")
    assert drawn["layout"]["xaxis"].get("type") != "log"
    (points,) = drawn["data"]
    assert points["x"][0] == 0.01, "a log axis would have no place for less"


def test_trials_at_zero_are_counted_where_the_axis_has_no_zero() -> None:
    view = played(grid(0.0, 0.01, 1.0), seeds=1)
    assert "1 trial at β 0 not on the log axis" in words(view)
    assert "2 trials at β 0 not on the log axis" in words(played(grid(0.0, 0.01, 1.0), seeds=2))
    alone = played(grid(0.01, 1.0), {"name": "zero", "weighting": {"name": "fixed", "beta": 0}}, seeds=2)
    assert "not on the log axis" not in words(alone), "its mean is drawn across"
    drawn = draw_sensitivity(sensitivity_data(alone, None, None), "r")
    across = [trace for trace in drawn["data"] if trace["name"] == "zero" and trace.get("line", {}).get("dash")]
    assert across and across[0]["x"] == [0.01, 1.0]


def words(view: StudyView) -> str:
    return str(draw_sensitivity(sensitivity_data(view, None, None), "r")["layout"]["meta"]["subtitle"])


def test_a_trial_that_has_not_reported_is_not_said_to_train_behind_the_figure() -> None:
    view = bottleneck_of(grid(0.1, 0.2, 0.3), seeds=[0])
    first, second, third = view.trials
    play(view, first, [{"accuracy": 0.5}])
    play(view, second, [{"accuracy": 0.4}], end="")
    play(view, third, [], end="")
    assert words(view).endswith("1 still training")


def test_a_band_beside_a_single_value_has_room_on_both_sides() -> None:
    view = bottleneck_of(grid(0.1, 0.2), MIB, seeds=[0])
    only, failed, mib = view.trials
    play(view, only, [{"accuracy": 0.5}])
    play(view, failed, [{"accuracy": 0.4}], end="trial_failed")
    play(view, mib, [{"accuracy": 0.9, "weight_info": None}])
    drawn = draw_sensitivity(sensitivity_data(view, None, None), "r")
    across = next(trace for trace in drawn["data"] if trace.get("line", {}).get("dash") == "dash")
    assert across["x"] == pytest.approx([0.05, 0.15])


@pytest.mark.parametrize(("betas", "tick"), [((0.01, 1.0), "D2"), ((0.001, 1.0), 1)])
def test_a_log_axis_has_more_ticks_where_it_is_short(betas: tuple[float, float], tick: object) -> None:
    drawn = draw_sensitivity(sensitivity_data(played(grid(*betas)), None, None), "r")
    assert drawn["layout"]["xaxis"]["dtick"] == tick


def test_marks_are_large_where_a_trial_stands_for_itself() -> None:
    sizes = [
        draw_sensitivity(sensitivity_data(played(grid(0.1, 0.2), seeds=seeds), None, None), "r")["data"]
        for seeds in (1, 3)
    ]
    alone, several = ([t["marker"]["size"] for t in drawn if "customdata" in t] for drawn in sizes)
    assert alone == [7] and several == [4]


def test_the_first_arm_of_a_difference_is_solid_and_the_second_dashed() -> None:
    view = played(grid(0.1, 0.2), MIB)
    drawn = draw_difference(difference_data(view, None, None, ()), "r")
    dashes = {t["name"]: t["line"]["dash"] for t in drawn["data"] if "dash" in t.get("line", {})}
    assert dashes == {"manual β": "solid", "MIB": "dash"}


def test_a_difference_waits_until_both_arms_have_a_result() -> None:
    view = bottleneck_of(grid(0.1, 0.2), MIB, seeds=[0, 1])
    first, *_ = view.trials
    play(view, first, [{"i_xz_bits": 3.0, "i_zy_bits": 1.0}])
    assert not difference_data(view, None, None, ()).ready
    assert "no seed in common" not in str(draw_difference(difference_data(view, None, None, ()), "r")["layout"]["meta"])


@pytest.mark.parametrize("name", ["attainment", "attainment-difference", "pareto-front"])
def test_each_axis_is_logarithmic_by_its_own_values(name: str) -> None:
    """Rates from 1 to 100 bits, labels within a factor of three."""
    view = bottleneck_of(grid(0.1, 0.2, 0.3), MIB, seeds=[0, 1])
    for i, trial in enumerate(view.trials):
        play(view, trial, [{"i_xz_bits": 10.0 ** (i % 3), "i_zy_bits": 1.0 + i % 3}])
    layout = FIGURES[name].build(Asked(view))["layout"]
    assert layout["xaxis"]["type"] == "log" and "type" not in layout["yaxis"]


def test_as_many_trials_as_are_needed_are_not_too_few() -> None:
    view = bottleneck_of(grid(*(0.1 * (i + 1) for i in range(LEAST_TRIALS))), seeds=[0])
    trials = list(view.trials)
    for trial in trials[:-1]:
        play(view, trial, [{"accuracy": 0.5}])
    empty = FIGURES["importance"].build(Asked(view))["layout"]["meta"]["empty"]
    assert empty == f"Too few trials: {LEAST_TRIALS - 1} of the {LEAST_TRIALS} that are needed."
    play(view, trials[-1], [{"accuracy": 0.5}])
    empty = FIGURES["importance"].build(Asked(view))["layout"]["meta"]["empty"]
    assert empty == f"accuracy is the same in all {LEAST_TRIALS} trials."


def test_the_cost_axis_reaches_as_far_as_its_dotted_lines() -> None:
    """Only in the second seed, whose trials take 100 s each, has the grid what MIB has after 6 s."""
    two = {**MIB, "weighting": {"name": "mib", "mu": {"grid": [0.1, 0.2]}}}
    view = bottleneck_of(grid(0.01, 0.1), two, seeds=[0, 1])
    for trial, t in view.trials.items():
        is_grid, late = t.planned.arm == "manual β", t.planned.seed == 1
        seconds = (100.0 if late else 1.0) if is_grid else 3.0
        further = t.planned.config.get("weighting.beta") == 0.1 or t.planned.config.get("weighting.mu") == 0.2
        label = (2.0 if late and further else 1.0) if is_grid else 1.5
        rate = 12.0 if further else 10.0
        play(view, trial, [{"seconds": seconds, "i_xz_bits": rate, "i_zy_bits": label + 0.1 * further}])
    data = cost_data(view, None)
    (reach,) = data.reached
    assert reach.seeds == 1 and (reach.cost.mean or 0.0) > max(cost for arm in data.arms for cost in arm.cost)
    assert draw_cost(data, "r")["layout"]["xaxis"].get("type") == "log"


def test_as_many_trials_as_have_strong_paths_have_them(monkeypatch: pytest.MonkeyPatch) -> None:
    view = played(grid(0.1, 0.2), seeds=1)
    for many, opacity in ((2, 0.35), (1, 0.2)):
        monkeypatch.setattr(information_plane, "MANY", many)
        drawn = FIGURES["information-plane"].build(Asked(view))
        assert next(t["opacity"] for t in drawn["data"] if t["name"] == "manual β" and t["mode"] == "lines") == opacity


def test_the_height_of_a_band_counts_for_the_axis() -> None:
    """Of the grid 10 and 20 bits, of the arm that lies across half a bit."""
    view = bottleneck_of(grid(0.1, 0.2), MIB, seeds=[0, 1])
    for i, (trial, t) in enumerate(view.trials.items()):
        rate = 10.0 * (1 + i // 2) if t.planned.arm == "manual β" else 0.5 + 0.01 * i
        play(view, trial, [{"i_xz_bits": rate, "i_zy_bits": 1.0}])
    assert draw_sensitivity(sensitivity_data(view, None, "i_xz_bits"), "r")["layout"]["yaxis"].get("type") == "log"
    alone = bottleneck_of(grid(0.1, 0.2), seeds=[0])
    for trial, rate in zip(alone.trials, (10.0, 20.0), strict=True):
        play(alone, trial, [{"i_xz_bits": rate, "i_zy_bits": 1.0}])
    assert "type" not in draw_sensitivity(sensitivity_data(alone, None, "i_xz_bits"), "r")["layout"]["yaxis"]
