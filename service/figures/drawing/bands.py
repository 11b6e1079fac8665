"""Intervals as bars and as bands across a figure, drawn only as far as a metric can go."""

from __future__ import annotations

import math
from collections.abc import Sequence

from service.analysis import Interval
from service.contract.metrics import described
from service.contract.wire.plotly import Trace
from service.contract.wording.palette import arm_style
from service.figures.drawing.hover import hover
from service.figures.drawing.style import short

Bounds = tuple[float, float]
UNBOUNDED: Bounds = (-math.inf, math.inf)


def legend_rank(index: int) -> int:
    """The order of the study, whatever is drawn first."""
    return 1000 + index


def bounds_of(metric: str) -> Bounds:
    """Few seeds give intervals wider than the metric itself; this is where it ends."""
    return described(metric).bounds


def ends(interval: Interval, bounds: Bounds) -> tuple[float, float] | None:
    """Both ends of a 95 % interval, of two seeds their range; none of one."""
    mean, half, seeds, low, high = interval
    if mean is not None and half is not None:
        low, high = mean - half, mean + half
    if low is None or high is None or seeds == 1:
        return None
    return max(bounds[0], low), min(bounds[1], high)


def bars(intervals: Sequence[Interval], bounds: Bounds, colour: str, thickness: float = 1.5) -> Trace:
    """Plotly's error bars of several means; nothing where there is no interval."""
    both = [ends(interval, bounds) for interval in intervals]
    above = [0.0 if e is None else short(e[1] - (i.mean or 0.0)) for e, i in zip(both, intervals, strict=True)]
    below = [0.0 if e is None else short((i.mean or 0.0) - e[0]) for e, i in zip(both, intervals, strict=True)]
    width = {"color": colour, "thickness": thickness, "width": 3}
    if not any(above) and not any(below):
        return {"visible": False}
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below, **width}


def drawn_of_seeds(seeds: int) -> str:
    """What a figure draws over so many seeds."""
    few = {0: "", 1: "one seed, no interval", 2: "two seeds: mean and range, no interval"}
    return few.get(seeds, f"{seeds} seeds: mean, 95 % interval")


def ribbon(xs: Sequence[float], intervals: Sequence[Interval], bounds: Bounds, colour: str) -> Trace:
    """The intervals of many means as one area; too many bars would be a thicket."""
    drawn = [(short(x), end) for x, i in zip(xs, intervals, strict=True) if (end := ends(i, bounds)) is not None]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [x for x, _ in drawn] + [x for x, _ in reversed(drawn)],
        "y": [short(low) for _, (low, _) in drawn] + [short(high) for _, (_, high) in reversed(drawn)],
        "fill": "toself",
        "fillcolor": colour,
        "line": {"width": 0},
        "opacity": 0.16,
        "hoverinfo": "skip",
        "showlegend": False,
    }


def across(
    name: str, index: int, interval: Interval, span: tuple[float, float], bounds: Bounds, words: str
) -> list[Trace]:
    """A mean as a dashed line over the whole figure with its interval as a band.

    The arm's mark is in the legend alone: in the figure it would lie at some x, which this mean does not have.
    """
    if interval.mean is None:
        return []
    colour, symbol = arm_style(index)
    mean, both = short(interval.mean), ends(interval, bounds)
    common = {"type": "scatter", "name": name, "legendgroup": name, "showlegend": False}
    band = {
        "mode": "lines",
        "x": [span[0], span[1], span[1], span[0]],
        "y": [] if both is None else [short(both[0])] * 2 + [short(both[1])] * 2,
        "fill": "toself",
        "fillcolor": colour,
        "line": {"width": 0},
        "opacity": 0.16,
        "hoverinfo": "skip",
    }
    line: Trace = {"mode": "lines", "x": list(span), "y": [mean, mean], **hover([words, words])}
    line["line"] = {"color": colour, "width": 1.5, "dash": "dash"}
    mark: Trace = {"mode": "markers", "x": [None], "y": [None], "showlegend": True, "legendrank": legend_rank(index)}
    mark["marker"] = {"color": colour, "symbol": symbol, "size": 9}
    drawn = [{**common, **line}, {**common, **mark}]
    return drawn if both is None else [{**common, **band}, *drawn]
