"""Information plane: I(Z;Y) against I(X;Z), one path per trial over its epochs, ends marked."""

from __future__ import annotations

import math

from service.analysis import LEAST_SEEDS
from service.analysis.fronts import key_of
from service.analysis.intervals import interval_words
from service.contract.study.outcomes import COLLAPSED_BELOW_BITS
from service.contract.wire.plotly import PlotlyFigure, Trace
from service.contract.wording.numbers import number, plural
from service.contract.wording.palette import arm_style
from service.figures.drawing.bands import bars, bounds_of
from service.figures.drawing.hover import hover
from service.figures.drawing.information_bound import bound_layout, bound_of, bound_traces
from service.figures.drawing.information_paths import (
    MANY,
    SMALLEST_BITS,
    ArmPlane,
    End,
    Mean,
    PlaneData,
    X,
    Y,
    plane_data,
)
from service.figures.drawing.shades import in_legend, marker_colours, shading_words
from service.figures.drawing.style import Measured, axis_layout, layout, short, truth_traces
from service.figures.figure import Asked, Figure


def _lines(arm: ArmPlane, colour: str, many: bool) -> Trace:
    """All paths of an arm as one trace with gaps between trials: few traces draw fast."""
    x: list[float | None] = []
    y: list[float | None] = []
    for path in arm.paths:
        x += [*path.x, None]
        y += [*path.y, None]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": arm.name,
        "legendgroup": arm.name,
        "showlegend": False,
        "x": x,
        "y": y,
        "line": {"color": colour, "width": 1},
        "opacity": 0.2 if many else 0.35,
        "hoverinfo": "skip",
    }


def _end_words(end: End) -> str:
    return f"{end.label} · epoch {end.epoch}<br>I(X;Z) {number(end.x)} bits<br>I(Z;Y) {number(end.y)} bits"


def _ends(arm: ArmPlane, colour: str, symbol: str, many: bool) -> Trace:
    """Where each trial ended; small beside a mean that stands for them."""
    size = 5 if many or arm.mean or any(end.where for end in arm.ends) else 8
    return {
        "type": "scatter",
        "mode": "markers",
        "name": arm.name,
        "legendgroup": arm.name,
        "showlegend": arm.mean is None and arm.shading is None,
        "x": [short(end.x) for end in arm.ends],
        "y": [short(end.y) for end in arm.ends],
        **hover(_end_words(end) for end in arm.ends),
        "customdata": [end.trial for end in arm.ends],
        "marker": {
            **marker_colours(arm.shading, [key_of(end.trial, end.where) for end in arm.ends], colour),
            "symbol": symbol,
            "size": size,
            "opacity": 0.7 if many else 1.0,
        },
    }


def _mean(arm: ArmPlane, mean: Mean, highest: float, colour: str, symbol: str) -> Trace:
    """One strong mark with its intervals; open, so that the trials it stands for are seen and can be picked."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": arm.name,
        "legendgroup": arm.name,
        "x": [short(mean.x.mean or 0.0)],
        "y": [short(mean.y.mean or 0.0)],
        **hover([f"mean<br>I(X;Z) {interval_words(mean.x)}<br>I(Z;Y) {interval_words(mean.y)}"]),
        "error_x": bars([mean.x], bounds_of(X), colour),
        "error_y": bars([mean.y], (-math.inf, highest), colour),
        "marker": {"color": colour, "symbol": f"{symbol}-open", "size": 14, "line": {"width": 2.5}},
    }


def subtitle_of(data: PlaneData) -> str:
    light = f" (trust light {data.light.mark} at worst)" if data.light else ""
    parts = [
        f"I(X;Z) ≤ KL to a fitted marginal{light}, I(Z;Y) ≥ H(Y) − cross-entropy, test split",
        plural(data.trials, "trial"),
        "one seed, no interval" if data.seeds == 1 else f"{data.seeds} seeds",
        f"large mark: mean, {'bars 95 %' if data.seeds >= LEAST_SEEDS else 'bars range'}"
        if any(arm.mean for arm in data.arms)
        else "",
        shading_words(arm.shading for arm in data.arms),
        "shaded: above min(I(X;Z), H(Y))" if data.entropy is not None else "",
        "lines of trials with many points: their curves" if data.curves else "",
        f"paths of {plural(data.drawn, 'trial')}" if data.drawn < data.trials else "",
        "epochs thinned" if data.thinned else "",
    ]
    return " · ".join(filter(None, parts))


def summary_of(data: PlaneData) -> str:
    """Where each arm ended, in a sentence each."""
    words = []
    for arm in data.arms:
        if arm.mean:
            rate, label = interval_words(arm.mean.x), interval_words(arm.mean.y)
            words.append(f"{arm.name} ends at I(X;Z) {rate}, and I(Z;Y) {label}, in bits.")
        elif arm.ends:
            rates, labels = [end.x for end in arm.ends], [end.y for end in arm.ends]
            words.append(
                f"{arm.name} ends between I(X;Z) {number(min(rates))} and {number(max(rates))} bits, "
                f"with I(Z;Y) up to {number(max(labels))} bits."
            )
    return " ".join(words)


def _places(data: PlaneData) -> tuple[list[float], list[float]]:
    """Everything drawn: paths, and the ends of trials without one."""
    xs = [x for arm in data.arms for path in arm.paths for x in path.x]
    ys = [y for arm in data.arms for path in arm.paths for y in path.y]
    ends = [end for arm in data.arms for end in arm.ends]
    return [*xs, *(end.x for end in ends)], [*ys, *(end.y for end in ends)]


def draw_plane(data: PlaneData, revision: str) -> PlotlyFigure:
    lines: list[Trace] = []
    marks: list[Trace] = []  # drawn after all lines, so that no path covers an end
    many = data.trials > MANY
    for i, arm in enumerate(data.arms):
        colour, symbol = arm_style(i)
        lines.append(_lines(arm, colour, many))
        if arm.mean:
            marks.append(_mean(arm, arm.mean, math.inf if data.entropy is None else data.entropy, colour, symbol))
        marks.append(_ends(arm, colour, symbol, many))
        if arm.shading:
            marks.append(in_legend(arm.name, colour, symbol))
    xs, ys = _places(data)
    # A collapsed code lies at zero on a linear axis; it is no reason for a log one.
    x_axis, y_axis = axis_layout(X, [x for x in xs if x >= COLLAPSED_BELOW_BITS]), axis_layout(Y, ys)
    drawing = layout(
        {"rangemode": "tozero", **x_axis},
        {"rangemode": "tozero", **y_axis},
        subtitle_of(data),
        revision,
        summary=summary_of(data),
        axes=[Measured(X, SMALLEST_BITS), Measured(Y)],
    )
    below: list[Trace] = []
    if data.entropy is not None and xs:
        bound = bound_of(data.entropy, xs, ys, x_axis.get("type") == "log")
        below = bound_traces(bound, known=bool(data.truth))
        around = bound_layout(bound)
        drawing |= {axis: drawing[axis] | around.pop(axis) for axis in ("xaxis", "yaxis")} | around
    return {"data": [*below, *truth_traces(data.truth, SMALLEST_BITS), *lines, *marks], "layout": drawing}


def figure(asked: Asked) -> PlotlyFigure:
    return draw_plane(plane_data(asked.view), asked.revision)


FIGURE = Figure(
    "information-plane",
    "Information plane",
    "I(Z;Y) against I(X;Z), a path per trial over epochs",
    "main",
    (X, Y),
    figure,
)
