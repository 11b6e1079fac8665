"""One visual language: a hue and a marker per arm, the same in every figure; axes with names and units."""

from __future__ import annotations

from typing import Any

from service.contract.metrics import METRICS

# Okabe–Ito, safe for colour-blind readers; ordered for contrast between neighbours on light and dark.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A6D3B", "#7F7F7F")
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "x", "star", "cross", "hexagon")

LOG_WHEN_RATIO = 20.0


def arm_style(index: int) -> tuple[str, str]:
    """Colour and marker of the arm at this place of the study."""
    return COLOURS[index % len(COLOURS)], SYMBOLS[(index + index // len(COLOURS)) % len(SYMBOLS)]


def title_of(metric: str) -> str:
    known = METRICS[metric]
    return f"{known.label} [{known.unit}]" if known.unit else known.label


def axis_layout(metric: str, values: list[float]) -> dict[str, Any]:
    """Name, unit, and a log scale when the values span more than a factor of twenty."""
    axis: dict[str, Any] = {"title": {"text": title_of(metric)}, "zeroline": False, "automargin": True}
    positive = [value for value in values if value > 0]
    ratio = max(positive) / min(positive) if positive else 1.0
    if (
        METRICS[metric].unit
        and METRICS[metric].goal == "minimize"
        and len(positive) == len(values)
        and ratio > LOG_WHEN_RATIO
    ):
        axis.update(type="log", dtick="D2" if ratio < 300 else 1)
    return axis


def layout(x: dict[str, Any], y: dict[str, Any], subtitle: str, revision: str) -> dict[str, Any]:
    """Margins, legend and a stable `uirevision`, so that live updates keep zoom and selection."""
    return {
        "xaxis": x,
        "yaxis": y,
        "uirevision": revision,
        "margin": {"l": 56, "r": 12, "t": 8, "b": 48},
        "hovermode": "closest",
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "meta": {"subtitle": subtitle},
    }
