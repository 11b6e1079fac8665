"""The service's figures as a notebook shows them: on white, with title and subtitle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontends.connection import Answer, ClientError

if TYPE_CHECKING:
    import plotly.graph_objects as go

TITLE_ROOM = 96  # pixels above the axes for title, subtitle and a line of legend


def chosen(name: str, figures: list[Answer]) -> Answer:
    """The figure of this name, else the only one whose name begins so."""
    names = [figure["name"] for figure in figures]
    fitting = [name] if name in names else [known for known in names if known.startswith(name)]
    if len(fitting) != 1:
        words = f"fits {', '.join(fitting)}" if fitting else f"is not a figure; known: {', '.join(names)}"
        raise ClientError(f"{name!r} {words}", 404)
    return figures[names.index(fitting[0])]


def notebook_figure(figure: Answer, title: str) -> go.Figure:
    """Plotly's white template under the figure's own layout."""
    import plotly.graph_objects as go  # half a second, only notebooks need it

    drawn = go.Figure(figure)
    subtitle = figure["layout"].get("meta", {}).get("subtitle", "")
    margin = {**figure["layout"].get("margin", {}), "t": TITLE_ROOM}
    heading = {
        "text": title,
        "x": 0,
        "xref": "paper",
        "y": 0.97,
        "yanchor": "top",
        "subtitle": {"text": subtitle.replace("<", "&lt;")},
    }
    drawn.update_layout(template="plotly_white", title=heading, margin=margin)
    return drawn
