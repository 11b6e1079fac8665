"""Intervals as bars and as bands across a figure, drawn only as far as a metric can go."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from service.analysis import Interval
from service.contract.palette import arm_style
from service.figures.style import short

Bounds = tuple[float, float]


def legend_rank(index: int) -> int:
    """The order of the study, whatever is drawn first."""
    return 1000 + index


def bounds_of(metric: str) -> Bounds:
    """Few seeds give intervals wider than the metric itself; this is where it ends."""
    if re.fullmatch(r"(.+_)?accuracy(_.+)?|robust_.+", metric):
        return 0.0, 1.0
    if metric == "generalization_gap":
        return -1.0, 1.0
    return (0.0, math.inf) if re.fullmatch(r"seconds|i_xz_.+", metric) else (-math.inf, math.inf)


def ends(interval: Interval, bounds: Bounds) -> tuple[float, float] | None:
    """Both ends of a 95 % interval; none where one seed cannot tell."""
    mean, half, _ = interval
    if mean is None or half is None:
        return None
    return max(bounds[0], mean - half), min(bounds[1], mean + half)


def bars(intervals: Sequence[Interval], bounds: Bounds, colour: str, thickness: float = 1.5) -> dict[str, Any]:
    """Plotly's error bars of several means; nothing where there is no interval."""
    found = [ends(interval, bounds) for interval in intervals]
    above = [0.0 if e is None else short(e[1] - (i.mean or 0.0)) for e, i in zip(found, intervals, strict=True)]
    below = [0.0 if e is None else short((i.mean or 0.0) - e[0]) for e, i in zip(found, intervals, strict=True)]
    width = {"color": colour, "thickness": thickness, "width": 3}
    if not any(above) and not any(below):
        return {"visible": False}
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below, **width}


def interval_words(interval: Interval) -> str:
    """`0.912 ± 0.011 over 3 seeds`."""
    mean, half, seeds = interval
    if mean is None:
        return ""
    return f"{mean:.3g}, one seed" if half is None else f"{mean:.3g} ± {half:.2g} over {seeds} seeds"


def ribbon(xs: Sequence[float], intervals: Sequence[Interval], bounds: Bounds, colour: str) -> dict[str, Any]:
    """The intervals of many means as one area; too many bars would be a thicket."""
    found = [(short(x), end) for x, i in zip(xs, intervals, strict=True) if (end := ends(i, bounds)) is not None]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [x for x, _ in found] + [x for x, _ in reversed(found)],
        "y": [short(low) for _, (low, _) in found] + [short(high) for _, (_, high) in reversed(found)],
        "fill": "toself",
        "fillcolor": colour,
        "line": {"width": 0},
        "opacity": 0.16,
        "hoverinfo": "skip",
        "showlegend": False,
    }


def across(
    name: str, index: int, interval: Interval, span: tuple[float, float], bounds: Bounds, words: str
) -> list[dict[str, Any]]:
    """A mean as a dashed line over the whole figure with its interval as a band, the arm's mark at the right."""
    if interval.mean is None:
        return []
    colour, symbol = arm_style(index)
    mean, found = short(interval.mean), ends(interval, bounds)
    common = {"type": "scatter", "name": name, "legendgroup": name, "showlegend": False}
    hover = {"hovertemplate": "%{text}<extra>%{fullData.name}</extra>"}
    band = {
        "mode": "lines",
        "x": [span[0], span[1], span[1], span[0]],
        "y": [] if found is None else [short(found[0])] * 2 + [short(found[1])] * 2,
        "fill": "toself",
        "fillcolor": colour,
        "line": {"width": 0},
        "opacity": 0.16,
        "hoverinfo": "skip",
    }
    line: dict[str, Any] = {"mode": "lines", "x": list(span), "y": [mean, mean], "text": [words, words]}
    line["line"] = {"color": colour, "width": 1.5, "dash": "dash"}
    mark: dict[str, Any] = {"mode": "markers", "x": [span[1]], "y": [mean], "text": [words], "showlegend": True}
    mark |= {"marker": {"color": colour, "symbol": symbol, "size": 9}, "legendrank": legend_rank(index)}
    drawn = [{**common, **line, **hover}, {**common, **mark, **hover}]
    return drawn if found is None else [{**common, **band}, *drawn]
