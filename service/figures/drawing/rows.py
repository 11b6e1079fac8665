"""Rows: an arm to each, its mean with an interval, and single trials below it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from service.analysis import Interval
from service.contract.wire.plotly import Layout, PlotlyFigure, Trace
from service.contract.wording.palette import arm_style
from service.figures.drawing.bands import ends
from service.figures.drawing.hover import hover
from service.figures.drawing.style import layout, short


class Dot(NamedTuple):
    trial: str
    words: str
    value: float


class Row(NamedTuple):
    arm: str
    note: str  # below the arm's name
    remark: str  # in the row at the right, where it has no mean
    hover: str
    mean: Interval
    dots: list[Dot]


def _tick(row: Row) -> str:
    """Two lines at most: rows stand close."""
    name = textwrap.wrap(row.arm, 18, max_lines=1 if row.note else 2, placeholder=" …")
    return "<br>".join([*name, row.note] if row.note else name)


def _traces(row: Row, index: int, below: float, bounds: tuple[float, float]) -> list[Trace]:
    colour, symbol = arm_style(index)
    common = {"type": "scatter", "mode": "markers", "name": row.arm, "showlegend": False}
    dots = {
        "x": [short(dot.value) for dot in row.dots],
        "y": [index + below] * len(row.dots),
        **hover(dot.words for dot in row.dots),
        "customdata": [dot.trial for dot in row.dots],
        "marker": {"color": colour, "symbol": symbol, "size": 5, "opacity": 0.5},
    }
    if row.mean.mean is None:
        return [{**common, **dots}]
    mean, both = row.mean.mean, ends(row.mean, bounds)
    middle = {
        "x": [short(mean)],
        "y": [index],
        **hover([row.hover]),
        "marker": {"color": colour, "symbol": symbol, "size": 9},
    }
    if both is not None:
        middle["error_x"] = {
            "type": "data",
            "symmetric": False,
            "array": [short(both[1] - mean)],
            "arrayminus": [short(mean - both[0])],
            "color": colour,
            "thickness": 1.5,
            "width": 4,
        }
    if len(row.dots) == 1:  # the mean is the trial
        return [{**common, **middle, "customdata": dots["customdata"]}]
    return [{**common, **dots}, {**common, **middle}]


def draw_rows(
    rows: Sequence[Row], x: Layout, bounds: tuple[float, float], subtitle: str, empty: str, revision: str
) -> PlotlyFigure:
    """Rows from top to bottom in the order of the study; `empty` is what a figure without a point means."""
    y = {
        "title": {"text": ""},
        "tickvals": list(range(len(rows))),
        "ticktext": [_tick(row) for row in rows],
        "range": [len(rows) - 0.5, -0.5],
        "automargin": True,
        "zeroline": False,
        "showgrid": False,
    }
    drawing = layout(x, y, subtitle, revision)
    drawing["meta"]["empty"] = empty
    drawing["annotations"] = [
        {
            "xref": "paper",
            "x": 1,
            "y": i,
            "xanchor": "right",
            "text": row.remark,
            "showarrow": False,
            "font": {"size": 11},
        }
        for i, row in enumerate(rows)
        if row.remark
    ]
    below = min(0.22, 0.04 * len(rows))  # single trials stand just below the mean, so that no interval covers them
    return {
        "data": [trace for i, row in enumerate(rows) for trace in _traces(row, i, below, bounds)],
        "layout": drawing,
    }
