"""What is drawn, mark by mark: paths, shades, bands and bars, with the colours and headings of their arms."""

from __future__ import annotations

from typing import Any

import pytest

from service.analysis import Axis, Interval
from service.analysis.attainment import Rectangle
from service.contract.wire.events import TrialState
from service.figures import FIGURES, figures_of
from service.figures.accuracy_by_method import figure as accuracy_figure
from service.figures.attainment import AttainmentData, draw_attainment
from service.figures.attainment_difference import difference_data, draw_difference, tint
from service.figures.beta_sensitivity import sensitivity_data
from service.figures.drawing import fronts
from service.figures.drawing.attained import ArmAttainment
from service.figures.drawing.bands import bars, ends
from service.figures.drawing.coordinates import round_values
from service.figures.drawing.information_bound import Bound, bound_layout, bound_traces
from service.figures.drawing.information_paths import plane_data
from service.figures.drawing.shades import shading_of
from service.figures.figure import Asked
from service.figures.importance import draw_importance, importance_data
from service.figures.information_plane import draw_plane
from service.figures.pareto_front import figure as front_figure
from service.figures.timeline import Bar, Host, TimelineData, draw_timeline, timeline_data
from tests.service.figures.test_timeline import NOW, tell
from tests.service.studies import MANUAL, MIB, accuracy, bits, bottleneck_of, play, study_of, weights

PLANE = (Axis("i_xz_bits", "minimize", 32.0), Axis("i_zy_bits", "maximize", 0.0))


def grid(name: str, *betas: float) -> dict[str, Any]:
    return {"name": name, "weighting": {"name": "fixed", "beta": {"grid": list(betas)}}}


# The information plane


def test_the_paths_of_an_arm_are_one_line_with_gaps_in_the_arms_colour() -> None:
    view = bottleneck_of(MIB)
    first, second = view.trials
    play(view, first, bits((9.0, 1.0), (4.0, 2.0)))
    play(view, second, bits((8.0, 1.5)))
    lines = [t for t in draw_plane(plane_data(view), "r")["data"] if t["mode"] == "lines" and t["name"] == "MIB"]
    assert [(t["x"], t["y"], t["line"]["color"]) for t in lines] == [
        ([9.0, 4.0, None, 8.0, None], [1.0, 2.0, None, 1.5, None], "#0072B2")
    ]


def test_the_shade_lies_between_the_bound_and_the_top() -> None:
    bound = Bound(3.0, (0.0, 10.0), (0.0, 3.3), False)
    shade, line = bound_traces(bound, known=False)
    assert (shade["x"], shade["y"]) == ([0.0, 3.0, 10.0, 10.0, 0.0], [0.0, 3.0, 3.0, 3.3, 3.3])
    assert (line["x"], line["y"]) == ([0.0, 3.0, 10.0], [0.0, 3.0, 3.0])
    assert len(bound_traces(bound, known=True)) == 1
    assert bound_layout(bound)["xaxis"] == {"range": [0.0, 10.0]} and bound_layout(bound)["yaxis"] == {
        "range": [0.0, 3.3]
    }
    log = Bound(3.0, (0.01, 100.0), (0.0, 3.3), True)
    assert bound_layout(log)["xaxis"]["range"] == pytest.approx([-2, 2])
    xs = bound_traces(log, known=True)[0]["x"][:-2]
    assert (xs[0], xs[-2], xs[-1], len(xs)) == (0.01, 3.0, 100.0, 34), "32 steps up to H(Y), then flat"


# Fronts


def test_a_step_goes_across_first_where_less_of_x_is_better() -> None:
    view = bottleneck_of(MIB)
    for trial, place in zip(view.trials, ((3.0, 1.0), (9.0, 2.5)), strict=True):
        play(view, trial, [{"i_xz_bits": place[0], "i_zy_bits": place[1], "accuracy": place[1] / 10}])
    assert front_figure(Asked(view))["data"][1]["line"]["shape"] == "hv"
    assert front_figure(Asked(view, x="accuracy"))["data"][1]["line"]["shape"] == "vh"


def test_each_arm_is_once_in_the_legend_in_the_plane_and_in_space() -> None:
    view = bottleneck_of(MANUAL, MIB, seeds=[0])
    for i, trial in enumerate(view.trials):
        play(view, trial, [{"i_xz_bits": 3.0 + i, "i_zy_bits": 1.0 + i, "accuracy": 0.5}])
    for z in ("none", "accuracy"):
        drawn = front_figure(Asked(view, z=z))["data"]
        assert [t["name"] for t in drawn if t.get("showlegend", True)] == ["manual β", "MIB"]


def test_many_arms_share_the_room_for_dominated_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fronts, "MOST_DOMINATED", 4)
    monkeypatch.setattr(fronts, "MOST_OF_ALL", 6)
    for arms, shown in ((1, 4), (2, 3), (3, 2)):
        view = bottleneck_of(*({**MIB, "name": f"arm {i}"} for i in range(arms)), seeds=range(7))
        for i, trial in enumerate(view.trials):
            play(view, trial, bits((3.0 + i, 9.0 - i / 10)))
        first = fronts.front_data(view, None, None).arms[0]
        assert (len(first.front), len(first.dominated), first.hidden) == (1, shown, 6 - shown)


def test_the_lightness_of_an_arm_goes_by_its_own_values() -> None:
    view = bottleneck_of(grid("small", 0.001, 0.01), grid("large", 1.0, 10.0, 100.0), seeds=[0])
    small, large = (shading_of(view, name) for name in ("small", "large"))
    assert small is not None and list(small.shares.values()) == [0.0, 1.0]
    assert large is not None and list(large.shares.values()) == [0.0, 0.5, 1.0]
    assert [trial for trial, _ in small.shares] == list(view.trials)[:2]


# Attainment


def test_a_band_goes_along_a_quarter_and_back_along_three_quarters_or_the_box() -> None:
    quarter, three = [(1.0, 0.0), (1.0, 3.0), (9.0, 3.0)], [(2.0, 0.0), (2.0, 2.0), (9.0, 2.0)]
    both = ArmAttainment("a", 4, [], [], quarter, three)
    half = ArmAttainment("b", 4, [], [], quarter, [])
    none = ArmAttainment("c", 1, [], [], [], [])
    drawn = draw_attainment(AttainmentData(PLANE, [both, half, none], (9.0, 0.0), None), "r")["data"]
    assert [(t["x"], t["y"]) for t in drawn if t.get("fill")] == [
        ([1, 1, 9, 9, 2, 2], [0, 3, 3, 2, 2, 0]),
        ([1, 1, 9, 9], [0, 3, 3, 0]),
        ([], []),
    ]


@pytest.mark.parametrize(("seeds", "share"), [([0], 0.5), ([0, 1], 0.5), ([0, 1, 2, 3], 0.25)])
def test_an_area_is_the_stronger_the_more_of_the_seeds_differ(seeds: list[int], share: float) -> None:
    view = bottleneck_of(MANUAL, MIB, seeds=seeds)
    data = difference_data(view, None, None, ())._replace(seeds=seeds)
    areas = [Rectangle((1.0, 2.0), (2.0, 1.0), 1), Rectangle((3.0, 2.0), (4.0, 1.0), -1)]
    drawn = [t for t in draw_difference(data._replace(rectangles=areas), "r")["data"] if t.get("fill")]
    assert [t["fillcolor"] for t in drawn] == [tint("#0072B2", share), tint("#D55E00", share)]


# Bars


def test_a_mean_of_0_has_its_interval() -> None:
    assert ends(Interval(0.0, 0.5, 2), (-1.0, 1.0)) == (-0.5, 0.5)
    assert ends(Interval(0.5, 0.0, 2), (0.0, 1.0)) == (0.5, 0.5)
    assert ends(Interval(None, None, 0), (0.0, 1.0)) is None and ends(Interval(0.5, None, 1), (0.0, 1.0)) is None
    drawn = bars([Interval(0.0, 0.5, 2)], (-1.0, 1.0), "#000000")
    assert (drawn["array"], drawn["arrayminus"]) == ([0.5], [0.5])
    below = bars([Interval(1.0, 0.5, 2)], (0.0, 1.0), "#000000")
    assert (below["array"], below["arrayminus"]) == ([0.0], [0.5]), "one side is enough to be seen"


def test_an_interval_of_accuracy_goes_neither_below_0_nor_above_1() -> None:
    view = bottleneck_of(MIB, seeds=(0, 1, 2))
    for trial, value in zip(view.trials, (0.1, 0.5, 0.9), strict=True):
        play(view, trial, accuracy(value))
    mean = accuracy_figure(Asked(view))["data"][1]
    assert (mean["x"], mean["error_x"]["array"], mean["error_x"]["arrayminus"]) == ([0.5], [0.5], [0.5])


def test_the_shares_of_importance_have_their_intervals_and_the_rest_none() -> None:
    view = bottleneck_of(grid("grid", 0.1, 0.2, 0.3), seeds=range(4))
    for i, trial in enumerate(view.trials):
        play(view, trial, accuracy(0.1 * (i // 4) + 0.03 * (i % 3)))
    data = importance_data(view, None, None)
    assert data.explained is not None
    (effect,) = data.explained.effects
    (drawn,) = draw_importance(data, "r")["data"]
    assert drawn["x"] == pytest.approx([effect.share, data.explained.rest], rel=1e-3)
    assert drawn["error_x"]["array"] == pytest.approx([effect.high - effect.share], rel=1e-3)
    assert drawn["error_x"]["arrayminus"] == pytest.approx([effect.share - effect.low], rel=1e-3)
    y = draw_importance(data, "r")["layout"]["yaxis"]
    assert (y["ticktext"], y["range"]) == (["β", "seed and<br>interactions"], [1.6, -0.6])


# Headings, choices, ticks


def test_a_small_plot_is_headed_by_its_term_or_its_layer() -> None:
    view = study_of()
    for trial in view.trials:
        play(view, trial, weights(2.0))
    notes = FIGURES["weight-paths"].drawn(Asked(view))["layout"]["annotations"]
    assert [note["text"] for note in notes] == ["left", "right"]
    balanced = bottleneck_of(MIB, model={"name": "mlp", "widths": [8], "head": [4]}, training={"balance": {}})
    notes = FIGURES["balance"].drawn(Asked(balanced))["layout"]["annotations"]
    assert [note["text"] for note in notes] == ["encoder-1", "head-1"]


def test_beta_is_what_a_metric_is_drawn_against_though_another_number_comes_first() -> None:
    mib = {**MIB, "weighting": {"name": "mib", "mu": {"grid": [0.1, 0.2]}}}
    assert sensitivity_data(bottleneck_of(mib, MANUAL), None, None).key == "weighting.beta"
    assert sensitivity_data(bottleneck_of(mib), None, None).key == "weighting.mu"


def test_a_figure_is_offered_with_its_choices() -> None:
    offered = FIGURES["pareto-front"].offer(bottleneck_of(MIB))
    assert (offered.name, offered.title, offered.group) == ("pareto-front", "Pareto front", "main")
    assert [(control.param, control.default) for control in offered.controls] == [
        ("x", "i_xz_bits"),
        ("y", "i_zy_bits"),
        ("z", "none"),
    ]


def test_two_arms_in_which_nothing_varies_can_be_told_apart() -> None:
    two, one = bottleneck_of(MIB, {**MIB, "name": "other"}), bottleneck_of(MIB)
    for name in ("importance", "parallel-coordinates"):
        assert name in figures_of(two) and name not in figures_of(one)


def test_round_numbers_include_the_ends_that_are_round() -> None:
    assert round_values(0.0, 6.0) == [0, 1, 2, 3, 4, 5, 6]
    assert round_values(1.1, 1.6) == [1.1, 1.2, 1.3, 1.4, 1.5, 1.6]
    assert round_values(0.0, 0.7) == [0.0, 0.2, 0.4, 0.6]


# The timeline


def test_time_begins_with_the_first_trial_where_nobody_told_of_the_study() -> None:
    view = bottleneck_of(MIB)
    first, second = view.trials
    tell(view, 30, "trial_started", first)
    tell(view, 40, "trial_started", second)
    (_, bars_), *_ = timeline_data(view, NOW).arms
    assert [(bar.start, bar.end) for bar in bars_] == [(0.0, 70.0), (10.0, 70.0)]


def test_trials_under_way_are_pale_and_finished_ones_need_no_pattern() -> None:
    def marker(*states: TrialState) -> dict[str, Any]:
        bars_ = [Bar(f"t{i}", "seed 0", i, 0.0, 1.0, state) for i, state in enumerate(states)]
        return dict(draw_timeline(TimelineData([("a", bars_)], [Host("h", 0, len(states))]), "r")["data"][0]["marker"])

    running, done, stopped = TrialState.RUNNING, TrialState.FINISHED, TrialState.STOPPED
    assert marker(running, running)["opacity"] == [0.45, 0.45]
    assert marker(done, stopped)["pattern"]["shape"] == ["", "."]
    assert not {"opacity", "pattern"} & {*marker(done, done)}
