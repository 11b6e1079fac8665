"""A figure as plotly.js takes it: an open map, for what stands in it is Plotly's to define."""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict

Trace = dict[str, Any]
Layout = Trace  # also a part of one: an axis, a note, a marker


class PlotlyFigure(TypedDict):
    """What `Plotly.react` is called with."""

    data: list[Trace]
    layout: Layout


class DrawnFigure(NamedTuple):
    """A figure with what is to be known of it by those who do not read Plotly's JSON."""

    title: str
    subtitle: str
    summary: str  # the finding in a sentence, for those who hear the figure
    empty: str | None  # what it means that there is nothing to see; none: there is something
    height: float | None  # in pixels; none: that of all others
    plotly: PlotlyFigure
    finding: str = ""  # the same where it is to be read above the figure
