"""Rows, bands across a figure and small plots: where each mark stands, and how far an interval goes."""

from __future__ import annotations

import pytest

from service.analysis import Interval
from service.figures.drawing.bands import across, bars, ribbon
from service.figures.drawing.over_epochs import ArmPaths, Band, PathsData
from service.figures.drawing.rows import Dot, Row, draw_rows
from service.figures.drawing.small_plots import draw_paths
from service.figures.drawing.varied_parameters import numeric_keys
from tests.service.studies import bottleneck_of

UNIT = (0.0, 1.0)


def test_rows_go_down_in_the_order_of_the_study_with_single_trials_below_their_mean() -> None:
    rows = [
        Row(
            "a",
            "best of 2",
            "",
            "mean of a",
            Interval(0.9, 0.3, 2),
            [Dot("t1", "seed 0: 0.800", 0.8), Dot("t2", "seed 1: 1.00", 1.0)],
        ),
        Row("b", "", "never: 2 of 2", "", Interval(None, None, 0), []),
        Row("c", "", "", "mean of c", Interval(0.2, None, 1), [Dot("t3", "seed 0: 0.200", 0.2)]),
    ]
    drawn = draw_rows(rows, {"title": {"text": "x"}}, UNIT, "s", "e", "r")
    y = drawn["layout"]["yaxis"]
    assert y["ticktext"] == ["a<br>best of 2", "b", "c"] and y["tickvals"] == [0, 1, 2]
    assert y["range"] == [2.5, -0.5], "the first on top"
    dots, mean, nothing, alone = drawn["data"]
    assert (dots["x"], dots["customdata"]) == ([0.8, 1.0], ["t1", "t2"])
    assert dots["text"] == ["seed 0: 0.800", "seed 1: 1.00"]
    assert all(0 < place < 0.5 for place in dots["y"]), "down is up on this axis"
    assert (mean["x"], mean["y"], mean["text"]) == ([0.9], [0], ["mean of a"])
    assert mean["error_x"]["array"] == [pytest.approx(0.1)] and mean["error_x"]["arrayminus"] == [pytest.approx(0.3)]
    assert (nothing["x"], alone["x"], alone["y"], alone["customdata"]) == ([], [0.2], [2], ["t3"])
    (note,) = drawn["layout"]["annotations"]
    assert (note["text"], note["y"], drawn["layout"]["meta"]["empty"]) == ("never: 2 of 2", 1, "e")


def test_a_band_goes_across_with_the_arms_mark_in_the_legend_alone() -> None:
    band, line, mark = across("a", 1, Interval(0.9, 0.3, 2), (2.0, 8.0), UNIT, "words")
    assert band["x"] == [2.0, 8.0, 8.0, 2.0] and band["y"] == [pytest.approx(0.6)] * 2 + [1.0] * 2
    assert (line["x"], line["y"], line["text"]) == ([2.0, 8.0], [0.9, 0.9], ["words", "words"])
    assert (mark["x"], mark["y"], mark["showlegend"], mark["legendrank"]) == ([None], [None], True, 1001)
    assert [trace["showlegend"] for trace in (band, line)] == [False, False]
    assert len(across("a", 1, Interval(0.9, None, 1), (2.0, 8.0), UNIT, "")) == 2, "one seed: no band"
    assert across("a", 1, Interval(None, None, 0), (2.0, 8.0), UNIT, "") == []


def test_bars_and_ribbons_end_where_the_metric_does() -> None:
    intervals = [Interval(0.9, 0.3, 2), Interval(0.5, None, 1), Interval(0.1, 0.2, 2)]
    drawn = bars(intervals, UNIT, "#000000")
    assert drawn["array"] == [pytest.approx(0.1), 0.0, pytest.approx(0.2)]
    assert drawn["arrayminus"] == [pytest.approx(0.3), 0.0, pytest.approx(0.1)]
    assert bars([Interval(0.5, None, 1)], UNIT, "#000000") == {"visible": False}
    area = ribbon([1.0, 2.0, 3.0], intervals, UNIT, "#000000")
    assert area["x"] == [1.0, 3.0, 3.0, 1.0] and area["y"] == [0.6, 0.0, pytest.approx(0.3), 1.0]


def test_on_a_log_axis_a_band_goes_no_lower_than_a_tenth_of_the_line() -> None:
    band = Band([1, 2], [0.1, 10.0], [-5.0, 9.0], [5.0, 11.0], [2, 2])
    data = PathsData(["loss_left"], 0, [ArmPaths("a", "interval", 2, {"loss_left": band})])
    drawn = draw_paths(data, {"loss_left": "left"}, "loss", "s", "r")
    assert drawn["layout"]["yaxis"]["type"] == "log"
    assert drawn["data"][0]["y"] == [pytest.approx(0.01), 9.0, 11.0, 5.0]
    flat = data._replace(arms=[data.arms[0]._replace(bands={"loss_left": band._replace(middle=[9.0, 10.0])})])
    shade = draw_paths(flat, {}, "loss", "s", "r")["data"][0]
    assert shade["y"] == [-5.0, 9.0, 11.0, 5.0], "a linear axis has room below 0"


def test_a_number_varies_when_it_takes_several_values() -> None:
    def keys(*grid: float) -> list[str]:
        arm = {"name": "a", "weighting": {"name": "fixed", "beta": {"grid": list(grid)}}}
        return numeric_keys(bottleneck_of(arm).study)

    assert (keys(0.1), keys(0.1, 0.2)) == ([], ["weighting.beta"])
