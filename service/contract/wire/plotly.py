"""A figure as plotly.js takes it: an open map, for what stands in it is Plotly's to define."""

from __future__ import annotations

from typing import Any, TypedDict

Trace = dict[str, Any]
Layout = Trace  # also a part of one: an axis, a note, a marker


class PlotlyFigure(TypedDict):
    """What `Plotly.react` is called with."""

    data: list[Trace]
    layout: Layout
