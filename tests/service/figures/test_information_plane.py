"""What the information plane shows, by value: paths, ends, means, lightness, and the bound nothing lies above."""

from __future__ import annotations

import json
import math

import pytest

from service.figures.drawing.information_bound import Bound, bound_line, bound_of, calm
from service.figures.drawing.information_paths import MANY, SAMPLE, few, plane_data
from service.figures.information_plane import draw_plane, subtitle_of
from service.views.overlay import Overlay
from tests.service.analysis.test_lights import NEAR, ROUGH, grid
from tests.service.studies import MANUAL, MIB, bits, bottleneck_of, play

DIGITS_ENTROPY = 3.32177


def test_a_path_runs_over_the_evaluated_epochs_and_ends_at_the_last() -> None:
    view = bottleneck_of(MIB, seeds=[0])
    (trial,) = view.trials
    play(view, trial, [*bits((9.0, 0.5)), {"accuracy": 0.5}, *bits((5.0, 2.0))])
    (arm,) = plane_data(view).arms
    assert [(path.x, path.y) for path in arm.paths] == [([9.0, 5.0], [0.5, 2.0])]
    assert [(end.trial, end.label, end.epoch, end.x, end.y) for end in arm.ends] == [(trial, "seed 0", 3, 5.0, 2.0)]
    assert arm.mean is None, "one seed has no interval"


def test_a_failed_trial_keeps_its_path_and_has_no_end() -> None:
    view = bottleneck_of(MIB)
    good, failed = view.trials
    play(view, good, bits((4.0, 1.0)))
    play(view, failed, bits((6.0, 1.0), (math.inf, 1.0), (math.nan, None)), end="trial_failed")
    data = plane_data(view)
    assert [path.x for path in data.arms[0].paths] == [[4.0], [6.0]]
    assert [end.trial for end in data.arms[0].ends] == [good] and data.trials == 2


def test_an_arm_of_one_configuration_has_the_mean_of_its_seeds_with_intervals() -> None:
    view = bottleneck_of(MANUAL, MIB, seeds=(0, 1, 2))
    *grid, first, second, third = view.trials
    for trial in grid:
        play(view, trial, bits((3.0, 1.0)))
    for trial, place in ((first, (4.0, 2.0)), (second, (5.0, 2.5)), (third, (6.0, 3.0))):
        play(view, trial, bits(place))
    manual, mib = plane_data(view).arms
    assert manual.mean is None, "a grid is no sample of one thing"
    assert mib.mean is not None and (mib.mean.x.mean, mib.mean.y.mean) == (5.0, 2.5)
    half = 4.302652730 / math.sqrt(3)  # Student's t of two degrees of freedom, of a standard deviation of 1
    assert mib.mean.x.half_width == pytest.approx(half) and mib.mean.y.half_width == pytest.approx(half / 2)
    marks = [trace for trace in draw_plane(plane_data(view), "r")["data"] if trace.get("error_x")]
    assert [(mark["x"], mark["y"], mark["error_x"]["arrayminus"]) for mark in marks] == [
        ([5.0], [2.5], [pytest.approx(half, rel=1e-3)])
    ]
    assert marks[0]["error_y"]["array"] == [pytest.approx(DIGITS_ENTROPY - 2.5, abs=1e-3)], "no more than H(Y)"


def test_a_grid_is_pale_where_beta_is_small() -> None:
    view = bottleneck_of(MANUAL, MIB, seeds=[0])
    for trial in view.trials:
        play(view, trial, bits((3.0, 1.0)))
    traces = draw_plane(plane_data(view), "r")["data"]
    manual, mib = (trace for trace in traces if trace.get("customdata"))
    assert manual["marker"]["color"] == [0.0, 0.5, 1.0] and manual["customdata"] == list(view.trials)[:3]
    assert manual["marker"]["colorscale"] == [[0, "#b2d5e8"], [1, "#0072B2"]]
    assert mib["marker"]["color"] == "#D55E00"
    named = [trace["name"] for trace in traces if trace.get("showlegend", True)]
    assert named == ["manual β", "MIB"], "every arm once"


# H(Y) and the bound


def test_the_bound_is_the_rate_up_to_the_entropy_of_the_labels() -> None:
    bound = bound_of(3.0, xs=[2.0, 9.7], ys=[0.1, 2.0], log=False)
    assert bound.x == (0.0, 10.0) and bound.y == pytest.approx((0.0, 3.3))
    assert bound_line(bound) == ([0.0, 3.0, 10.0], [0.0, 3.0, 3.0])


def test_on_a_log_axis_the_bound_bends() -> None:
    bound = bound_of(3.0, xs=[0.1, 100.0], ys=[-0.2, 2.0], log=True)
    xs, ys = bound_line(bound)
    assert [xs[0], xs[-1], bound.y[0]] == pytest.approx([0.09, 110, -0.2])
    assert len(xs) > 30 and ys == [min(x, 3.0) for x in xs]


def test_where_all_rates_lie_beyond_the_entropy_the_bound_is_flat() -> None:
    assert bound_line(bound_of(3.0, xs=[10.0, 1000.0], ys=[1.0], log=True)) == ([9.0, 1100.0], [3.0, 3.0])


@pytest.mark.parametrize(
    ("value", "round_one"), [(0.99, 1.0), (1.0, 1.0), (1.2, 1.5), (7.0, 8.0), (81, 100), (0.03, 0.03)]
)
def test_axes_end_at_round_numbers(value: float, round_one: float) -> None:
    assert calm(value) == pytest.approx(round_one)


def test_the_entropy_is_drawn_where_it_is_known() -> None:
    known, unknown = bottleneck_of(MIB), bottleneck_of(MIB, data={"name": "mnist", "test_images": 100})
    for view in (known, unknown):
        play(view, next(iter(view.trials)), bits((5.0, 2.0)))
    drawn = draw_plane(plane_data(known), "r")
    assert [note["text"] for note in drawn["layout"]["annotations"]] == ["H(Y) = 3.32 bits"]
    assert drawn["layout"]["shapes"][0]["y0"] == pytest.approx(DIGITS_ENTROPY, abs=1e-4)
    assert [trace["name"] for trace in drawn["data"][:2]] == ["min(I(X;Z), H(Y))"] * 2
    plain = draw_plane(plane_data(unknown), "r")
    assert "shapes" not in plain["layout"] and not any("min" in trace["name"] for trace in plain["data"])


def test_deterministic_labels_have_the_bound_as_their_exact_curve_once() -> None:
    view = bottleneck_of(MIB, data={"name": "toy"})
    play(view, next(iter(view.trials)), bits((5.0, 2.0)))
    named = [t for t in draw_plane(plane_data(view), "r")["data"] if t["name"] == "min(I(X;Z), H(Y))"]
    assert [trace["line"].get("dash") for trace in named] == [None, "dash"], "the shade, and the curve"
    assert named[1]["y"] == [pytest.approx(min(x, 3.0), abs=0.011) for x in named[1]["x"]]


def test_studies_of_different_data_share_no_bound() -> None:
    digits, toy = bottleneck_of(MIB), bottleneck_of(MIB, data={"name": "toy"}, name="t")
    assert plane_data(Overlay([digits, bottleneck_of(MIB, name="u")])).entropy == pytest.approx(
        DIGITS_ENTROPY, abs=1e-4
    )
    for views in ([digits, toy], [toy, digits]):
        both = plane_data(Overlay(views))
        assert both.entropy is None and both.truth == []


# Many trials, many epochs


def test_few_places_of_a_long_path_keep_its_end() -> None:
    assert few(5, 8) == [0, 1, 2, 3, 4] and few(9, 4) == [0, 4, 8] and few(10, 4) == [0, 4, 8, 9]


def test_of_many_trials_all_ends_and_a_sample_of_paths_are_drawn() -> None:
    grid = {"name": "grid", "weighting": {"name": "fixed", "beta": {"grid": {"from": 1e-4, "to": 1, "count": 498}}}}
    view = bottleneck_of(grid, MIB, limits={"trials": 1000})
    assert len(view.trials) == 998 > MANY
    for i, trial in enumerate(view.trials):
        play(view, trial, bits(*((1.2345 + i / 100 + e, 1.2345) for e in range(20))))
    data = plane_data(view)
    assert data.drawn <= SAMPLE and [len(arm.ends) for arm in data.arms] == [996, 2]
    assert len(data.arms[1].paths) == 2, "an arm of few trials keeps its paths"
    drawn = draw_plane(data, "r")
    assert f"paths of {data.drawn} trials" in drawn["layout"]["meta"]["subtitle"]
    assert len(json.dumps(drawn, ensure_ascii=False).encode()) < 150_000


def test_a_path_that_is_drawn_stays_as_other_trials_come() -> None:
    grid = {"name": "grid", "weighting": {"name": "fixed", "beta": {"grid": {"from": 1e-4, "to": 1, "count": 400}}}}
    view = bottleneck_of(grid, seeds=[0])
    trials = list(view.trials)
    for trial in trials[::-3]:
        play(view, trial, bits((2.0, 1.0)))
    before = {path.trial for path in plane_data(view).arms[0].paths}
    for trial in trials[1::3]:
        play(view, trial, bits((2.0, 1.0)))
    assert before and before <= {path.trial for path in plane_data(view).arms[0].paths}


def test_the_subtitle_names_the_worst_light_of_what_is_shown() -> None:
    lit, unlit = (subtitle_of(plane_data(view)) for view in (grid(NEAR, ROUGH, NEAR), grid({}, {}, {})))
    assert lit.startswith("I(X;Z) ≤ KL to a fitted marginal (trust light ◐ at worst), I(Z;Y)")
    assert unlit.startswith("I(X;Z) ≤ KL to a fitted marginal, I(Z;Y)")


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("entropy", [0.05, 1.0, 3.0])
def test_the_bound_runs_once_through_what_is_shown_of_the_plane(entropy: float, log: bool) -> None:
    """Also where no code has as much as H(Y), or all have more."""
    xs, ys = bound_line(Bound(entropy, (0.1, 2.0), (0.0, 1.1 * entropy), log))
    assert (xs[0], xs[-1]) == (0.1, 2.0) and xs == sorted(set(xs))
    assert ys == [pytest.approx(min(x, entropy), rel=1e-3) for x in xs]
