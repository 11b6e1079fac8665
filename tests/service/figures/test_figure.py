"""What is known of a figure besides its drawing: its words, its height, and whether there is anything to see."""

from __future__ import annotations

from typing import Any

import pytest

from service.contract.wire.plotly import DrawnFigure, PlotlyFigure, Trace
from service.figures.figure import NOTHING, Asked, Figure, is_empty
from tests.service.studies import study_of


def drawn(*traces: Trace, **layout: Any) -> DrawnFigure:
    built: PlotlyFigure = {"data": list(traces), "layout": layout}
    figure = Figure("f", "Title", "what it shows", "main", (), lambda asked: built)
    return figure.with_words(Asked(study_of()))


def test_a_figure_without_values_is_empty() -> None:
    assert is_empty({"data": [], "layout": {}}) and is_empty({"data": [{"x": [None]}], "layout": {}})
    assert not is_empty({"data": [{"x": []}, {"x": [0.0]}], "layout": {}})
    assert not is_empty({"data": [{"dimensions": []}], "layout": {}})


def test_a_figure_says_what_it_shows_or_why_it_shows_nothing() -> None:
    shown = drawn({"x": [1.0]}, meta={"subtitle": "sub", "summary": "A finding.", "empty": "Nothing yet."}, height=99.0)
    assert shown[:5] == ("Title", "sub", "Title. A finding.", None, 99.0)
    assert shown.plotly["data"] == [{"x": [1.0]}]
    assert drawn({"x": [1.0]}, meta={"subtitle": "sub"}).summary == "Title. sub", "where there is no finding"
    assert drawn({"x": []}, meta={"subtitle": "sub", "empty": "Nothing yet."}).empty == "Nothing yet."


@pytest.mark.parametrize("layout", [{}, {"meta": {"subtitle": "sub"}}])
def test_a_figure_that_says_nothing_of_its_own_has_words_all_the_same(layout: dict[str, Any]) -> None:
    assert drawn(**layout).empty == NOTHING and drawn(**layout).height is None
