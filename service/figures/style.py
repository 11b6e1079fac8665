"""One visual language: axes with names and units, quiet margins, stable zoom."""

from __future__ import annotations

from typing import Any

from service.contract.metrics import described
from service.truth import Curve

LOG_WHEN_RATIO = 20.0
TRUTH_COLOUR = "#888888"  # readable on light and dark


def short(value: float) -> float:
    """Four digits are more than a pixel shows, and a third of the bytes."""
    return float(f"{value:.4g}")


def title_of(metric: str) -> str:
    known = described(metric)
    return f"{known.label} [{known.unit}]" if known.unit else known.label


def axis_layout(metric: str, values: list[float]) -> dict[str, Any]:
    """Name, unit, and a log scale when the values span more than a factor of twenty."""
    axis: dict[str, Any] = {"title": {"text": title_of(metric)}, "zeroline": False, "automargin": True}
    positive = [value for value in values if value > 0]
    ratio = max(positive) / min(positive) if positive else 1.0
    if (
        described(metric).unit
        and described(metric).goal == "minimize"
        and len(positive) == len(values)
        and ratio > LOG_WHEN_RATIO
    ):
        axis.update(type="log", dtick="D2" if ratio < 300 else 1)
    return axis


def layout(
    x: dict[str, Any], y: dict[str, Any], subtitle: str, revision: str, *, summary: str = "", empty: str = ""
) -> dict[str, Any]:
    """Margins, legend and a stable `uirevision`, so that live updates keep zoom and selection.

    `summary` is the finding in a sentence, for those who hear the figure; `empty` what a figure without a point means.
    """
    words = {"subtitle": subtitle, "summary": summary, "empty": empty}
    return {
        "xaxis": x,
        "yaxis": y,
        "uirevision": revision,
        "margin": {"l": 56, "r": 12, "t": 8, "b": 48},
        "hovermode": "closest",
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "tracegroupgap": 0},
        "meta": {name: text for name, text in words.items() if text or name == "subtitle"},
    }


def truth_traces(curves: list[Curve], smallest_x: float | None = None) -> list[dict[str, Any]]:
    """Fronts known by formula, dashed and without a marker: nobody trained them. A log axis needs x above 0."""
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": curve.label,
            "x": [short(x if smallest_x is None else max(x, smallest_x)) for x in curve.x],
            "y": [short(y) for y in curve.y],
            "line": {"color": TRUTH_COLOUR, "width": 1.5, "dash": "dash"},
            "hoverinfo": "skip",
        }
        for curve in curves
    ]
