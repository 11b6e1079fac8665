"""Small plots over epochs: where each stands, when its axis is logarithmic, what many arms have instead of bands."""

from __future__ import annotations

from typing import Literal

import pytest

from service.contract.wording.palette import arm_style
from service.figures.drawing.over_epochs import ArmPaths, Band, PathsData
from service.figures.drawing.small_plots import BESIDE, draw_paths

Spread = Literal["interval", "range"]


def band(*middle: float, low: list[float | None] | None = None, high: list[float | None] | None = None) -> Band:
    none: list[float | None] = [None] * len(middle)
    return Band(list(range(1, len(middle) + 1)), list(middle), low or none, high or none, [1] * len(middle))


def data(metrics: list[str], *arms: dict[str, Band], spread: Spread = "interval") -> PathsData:
    return PathsData(metrics, 0, [ArmPaths(f"arm {i}", spread, 1, bands) for i, bands in enumerate(arms)])


def axes(count: int) -> list[tuple[dict[str, object], dict[str, object]]]:
    metrics = [f"m{i}" for i in range(count)]
    drawn = draw_paths(data(metrics, {}), {}, "weight", "s", "r")["layout"]
    numbers = ["", *map(str, range(2, count + 1))]
    return [(drawn[f"xaxis{number}"], drawn[f"yaxis{number}"]) for number in numbers]


def test_up_to_three_plots_stand_above_each_other() -> None:
    found = axes(3)
    assert [x["domain"] for x, _ in found] == [[0.0, 1.0]] * 3
    assert [y["domain"] for _, y in found] == [
        pytest.approx([2 / 3, 0.92]),
        pytest.approx([1 / 3, 2 / 3 - 0.08]),
        pytest.approx([0, 1 / 3 - 0.08]),
    ]
    assert [x["title"] for x, _ in found] == [{"text": ""}, {"text": ""}, {"text": "epoch"}]
    assert [x["showticklabels"] for x, _ in found] == [False, False, True]
    assert [y["title"] for _, y in found] == [{"text": "weight"}] * 3
    assert [(x["anchor"], y["anchor"], x.get("matches")) for x, y in found] == [
        ("y", "x", None),
        ("y2", "x2", "x"),
        ("y3", "x3", "x"),
    ]


def test_more_than_three_stand_in_two_columns_row_by_row() -> None:
    found = axes(5)
    left, right = pytest.approx([0, 0.45]), pytest.approx([0.55, 1])
    assert [x["domain"] for x, _ in found] == [left, right, left, right, left]
    assert [y["domain"] for _, y in found][::2] == [
        pytest.approx([2 / 3, 0.92]),
        pytest.approx([1 / 3, 2 / 3 - 0.08]),
        pytest.approx([0, 1 / 3 - 0.08]),
    ]
    assert [x["showticklabels"] for x, _ in found] == [False, False, False, True, True], "the lowest of each column"
    assert [y["title"] for _, y in found] == [{"text": text} for text in ("weight", "", "weight", "", "weight")]
    assert [x["showticklabels"] for x, _ in axes(4)] == [False, False, True, True]


def test_each_plot_has_its_heading_at_its_upper_left_and_its_own_axes() -> None:
    both = {"m0": band(1.0), "m1": band(2.0)}
    drawn = draw_paths(data(["m0", "m1"], both), {"m0": "first", "m1": "second"}, "weight", "s", "r")
    notes = [(note["text"], note["x"], note["y"]) for note in drawn["layout"]["annotations"]]
    assert notes == [("first", 0, pytest.approx(0.92)), ("second", 0, pytest.approx(0.42))]
    assert [(t["xaxis"], t["yaxis"], t["y"]) for t in drawn["data"] if t["mode"] == "markers"] == [
        ("x", "y", [1.0]),
        ("x2", "y2", [2.0]),
    ]


def test_an_arm_is_in_the_legend_once_however_many_plots_it_has() -> None:
    both, late = {"m0": band(1.0), "m1": band(2.0)}, {"m1": band(3.0)}
    drawn = draw_paths(data(["m0", "m1"], both, late), {}, "weight", "s", "r")["data"]
    shown = [(trace["name"], trace["yaxis"], trace["mode"]) for trace in drawn if trace["showlegend"]]
    assert shown == [("arm 0", "y", "markers"), ("arm 1", "y2", "markers")]
    assert {(t["name"], t["marker"]["color"], t["marker"]["symbol"]) for t in drawn if t["mode"] == "markers"} == {
        (f"arm {i}", *arm_style(i)) for i in (0, 1)
    }


def test_the_mark_stands_at_the_last_epoch_of_the_line() -> None:
    shade, line, mark = draw_paths(data(["m"], {"m": band(5.0, 6.0, 4.0)}), {}, "weight", "s", "r")["data"]
    assert (line["x"], line["y"]) == ([1, 2, 3], [5.0, 6.0, 4.0])
    assert (mark["x"], mark["y"], shade["x"]) == ([3], [4.0], []), "one trial has no band"


@pytest.mark.parametrize(
    ("spread", "bands", "scale", "step"),
    [
        ("interval", band(1.0, 20.0), None, None),  # a factor of twenty is not more than that
        ("interval", band(1.0, 21.0), "log", 1),
        ("interval", band(1e-5, 1.0), "log", 2),  # five decades: every second is ticked
        ("interval", band(0.0, 21.0), None, None),
        ("interval", band(-1.0, 21.0), None, None),
        ("interval", band(1.0, 2.0, low=[0.01, 0.01], high=[99.0, 99.0]), None, None),
        ("range", band(1.0, 2.0, low=[0.01, 0.01], high=[99.0, 99.0]), "log", 1),
        ("range", band(1.0, 2.0, low=[-1.0, 0.01], high=[99.0, 99.0]), None, None),
    ],
)
def test_an_axis_is_logarithmic_where_lines_span_much_and_nothing_shown_lies_at_0(
    spread: Spread, bands: Band, scale: str | None, step: int | None
) -> None:
    y = draw_paths(data(["m"], {"m": bands}, spread=spread), {}, "weight", "s", "r")["layout"]["yaxis"]
    assert (y.get("type"), y.get("dtick"), y.get("rangemode")) == (scale, step, None if scale else "tozero")


def test_more_than_six_arms_have_bars_side_by_side_beyond_the_last_epoch() -> None:
    own = {"m": band(4.0, 5.0, low=[3.0, 3.5], high=[6.0, 9.0])}
    six = draw_paths(data(["m"], *[own] * 6), {}, "weight", "s", "r")
    assert len([t for t in six["data"] if t.get("fill")]) == 6 and six["layout"]["meta"]["subtitle"] == "s"
    seven = draw_paths(data(["m"], *[own] * 6, {"m": band(4.0, 5.0)}), {}, "weight", "s", "r")
    assert seven["layout"]["meta"]["subtitle"] == "bars: last epoch · s"
    assert not any(trace.get("fill") for trace in seven["data"])
    marks = [trace for trace in seven["data"] if trace["mode"] == "markers"]
    assert [mark["x"][0] for mark in marks] == pytest.approx([2 * (1 + BESIDE / 7 * (i + 1)) for i in range(7)])
    assert [(m["error_y"]["array"], m["error_y"]["arrayminus"]) for m in marks[:6]] == [([4.0], [1.5])] * 6
    assert "error_y" not in marks[6], "one trial has no interval"


def test_a_study_that_reports_none_of_them_has_one_empty_plot() -> None:
    drawn = draw_paths(data([], {}), {}, "weight", "s", "r")
    assert drawn["data"] == [] and drawn["layout"]["xaxis"]["domain"] == [0.0, 1.0]
    assert "xaxis2" not in drawn["layout"] and drawn["layout"]["xaxis"]["title"] == {"text": "epoch"}
