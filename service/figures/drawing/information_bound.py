"""The bound of the information plane: nothing lies above I(Z;Y) = min(I(X;Z), H(Y))."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from service.contract.wire.plotly import Layout, Trace
from service.contract.wording.numbers import number
from service.figures.drawing.style import TRUTH_COLOUR, short

STEPS = 32  # of the bound on a log axis, where it bends
HEADROOM = 1.1  # above H(Y), for its name
SHADE = "rgba(128, 128, 128, 0.1)"
NAME = "min(I(X;Z), H(Y))"


class Bound(NamedTuple):
    """H(Y) in bits, and the part of the plane that is shown."""

    entropy: float
    x: tuple[float, float]
    y: tuple[float, float]
    log: bool  # the x axis


def calm(value: float) -> float:
    """The next round number: an axis that ends there grows in few steps."""
    power: float = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * power >= value * 0.999)


def bound_of(entropy: float, xs: Sequence[float], ys: Sequence[float], log: bool) -> Bound:
    """Shown from zero, on a log axis from the smallest x, up to a round number; y to just above H(Y)."""
    low, high = (0.9 * min(xs), 1.1 * max(xs)) if log else (0.0, calm(1.02 * max(xs)))
    lowest = min(ys)
    return Bound(entropy, (low, high), (0.0 if lowest >= 0 else -calm(-lowest), HEADROOM * entropy), log)


def bound_line(bound: Bound) -> tuple[list[float], list[float]]:
    """Its corners; on a log axis the slope up to H(Y) in small steps."""
    low, high = bound.x
    corner = min(max(bound.entropy, low), high)
    if bound.log and low < corner:
        xs = [low * (corner / low) ** (i / STEPS) for i in range(STEPS + 1)]
    else:
        xs = [low, corner]
    xs = list(dict.fromkeys([*map(short, xs), short(high)]))
    return xs, [short(min(x, bound.entropy)) for x in xs]


def bound_traces(bound: Bound, known: bool) -> list[Trace]:
    """The region nothing reaches, shaded, and the bound as a thin line unless it is drawn as the exact curve."""
    xs, ys = bound_line(bound)
    top = short(bound.y[1])
    common = {"type": "scatter", "mode": "lines", "hoverinfo": "skip", "name": NAME, "showlegend": False}
    shade = {
        "x": [*xs, xs[-1], xs[0]],
        "y": [*ys, top, top],
        "fill": "toself",
        "fillcolor": SHADE,
        "line": {"width": 0},
    }
    line = {"x": xs, "y": ys, "line": {"color": TRUTH_COLOUR, "width": 1}}
    return [{**common, **shade}, *([] if known else [{**common, **line}])]


def bound_layout(bound: Bound) -> Layout:
    """The parts of the axes and H(Y) as a dashed line with its name."""
    x = [math.log10(end) for end in bound.x] if bound.log else list(bound.x)
    across = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": bound.entropy, "y1": bound.entropy}
    name = {"xref": "paper", "x": 1, "xanchor": "right", "y": bound.entropy, "yanchor": "bottom", "showarrow": False}
    return {
        "xaxis": {"range": x},
        "yaxis": {"range": list(bound.y)},
        "shapes": [{**across, "layer": "below", "line": {"color": TRUTH_COLOUR, "width": 1, "dash": "dash"}}],
        "annotations": [{**name, "text": f"H(Y) = {number(bound.entropy)} bits", "font": {"size": 11}}],
    }
