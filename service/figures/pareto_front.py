"""Pareto front of two metrics: a stepped frontier per arm, dominated points muted; of three, see front_in_space."""

from __future__ import annotations

from service.contract.wire.plotly import Layout, PlotlyFigure, Trace
from service.contract.wording.palette import arm_style
from service.figures.drawing.choices import axes_of
from service.figures.drawing.front_in_space import draw_in_space
from service.figures.drawing.fronts import (
    NONE,
    ArmFront,
    FrontData,
    front_data,
    frontier,
    subtitle_of,
    summary_of,
    words_at,
)
from service.figures.drawing.hover import hover
from service.figures.drawing.shades import in_legend, marker_colours
from service.figures.drawing.style import TRUTH_COLOUR, Measured, axis_layout, layout, short, truth_traces
from service.figures.figure import Asked, Control, Figure
from service.views.view import View


def _curves(arm: ArmFront, colour: str) -> Trace:
    """A thin line through the points of each trial that has many; all of an arm as one trace, gaps between trials."""
    places = [place for curve in arm.curves for place in (*(point.values for point in curve), None)]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": arm.name,
        "legendgroup": arm.name,
        "showlegend": False,
        "x": [None if place is None else short(place[0]) for place in places],
        "y": [None if place is None else short(place[1]) for place in places],
        "line": {"color": colour, "width": 1},
        "opacity": 0.5,
        "hoverinfo": "skip",
    }


def _infeasible(data: FrontData, arm: ArmFront, colour: str, symbol: str) -> Trace:
    """Hollow and muted: what would lie there if it kept the constraints."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": arm.name,
        "legendgroup": arm.name,
        "showlegend": False,
        "x": [short(point.values[0]) for point in arm.infeasible],
        "y": [short(point.values[1]) for point in arm.infeasible],
        **hover(f"{words_at(data, point)}<br>infeasible" for point in arm.infeasible),
        "customdata": [point.trial for point in arm.infeasible],
        "marker": {"color": colour, "symbol": f"{symbol}-open", "size": 6, "opacity": 0.5},
    }


def _bound_lines(data: FrontData) -> Layout:
    """A dotted line where a constraint bounds an axis; as what is shown of the axis, not as what chooses sees."""
    lines = []
    for constraint in data.constraints:
        for name, other, axis in zip("xy", "yx", data.axes, strict=False):
            if axis.metric == constraint.metric:
                ends = {f"{name}{i}": constraint.bound for i in (0, 1)} | {f"{other}0": 0, f"{other}1": 1}
                refs = {f"{name}ref": name, f"{other}ref": "paper"}
                line = {"color": TRUTH_COLOUR, "width": 1.5, "dash": "dot"}
                words = {"text": constraint.words, "font": {"color": TRUTH_COLOUR, "size": 11}}
                lines.append({"type": "line", "layer": "below", **refs, **ends, "line": line, "label": words})
    return {"shapes": lines} if lines else {}


def traces_of(data: FrontData, arm: ArmFront, index: int) -> list[Trace]:
    x = data.axes[0]
    colour, symbol = arm_style(index)
    traces: list[Trace] = [_curves(arm, colour)] if arm.curves else []
    line = frontier(arm.front, data.axes)
    drawn = {point.key for point in line}
    beside = [point for point in arm.front if point.key not in drawn]  # chosen, but dominated where it is shown
    for points, strong in ((arm.dominated, False), (beside, True), (line, True)):
        if points is beside and not beside:
            continue
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers" if points is line and len(line) > 1 else "markers",
                "name": arm.name,
                "legendgroup": arm.name,
                "showlegend": points is line and arm.shading is None,
                "x": [short(point.values[0]) for point in points],
                "y": [short(point.values[1]) for point in points],
                **hover(words_at(data, point) for point in points),
                "customdata": [point.trial for point in points],
                # To the right of a point its y is reached: the step goes across first when x is minimised.
                "line": {"shape": "hv" if x.goal == "minimize" else "vh", "width": 1.5, "color": colour},
                "marker": {
                    **marker_colours(arm.shading if strong else None, [point.key for point in points], colour),
                    "symbol": symbol,
                    "size": 8 if strong else 5,
                    "opacity": 1.0 if strong else 0.3,
                },
            }
        )
    if arm.infeasible:
        traces.insert(0, _infeasible(data, arm, colour, symbol))
    return traces if arm.shading is None else [*traces, in_legend(arm.name, colour, symbol, traces[-1]["mode"])]


def draw_front(data: FrontData, revision: str) -> PlotlyFigure:
    drawn = [point.values for arm in data.arms for point in (*arm.front, *arm.dominated, *arm.infeasible)]
    x, y = (axis_layout(data.axes[i].metric, [values[i] for values in drawn]) for i in (0, 1))
    traces = [trace for i, arm in enumerate(data.arms) for trace in traces_of(data, arm, i)]
    axes = [Measured(axis.metric) for axis in data.axes]
    return {
        "data": [*truth_traces(data.truth), *traces],
        "layout": {
            **layout(x, y, subtitle_of(data), revision, summary=summary_of(data), axes=axes),
            **_bound_lines(data),
        },
    }


def figure(asked: Asked) -> PlotlyFigure:
    data = front_data(asked.view, asked.x, asked.y, asked.z)
    return draw_front(data, asked.revision) if len(data.axes) == 2 else draw_in_space(data, asked.revision)


def controls(view: View) -> list[Control]:
    metrics = axes_of(view)
    first, second, *more = (objective.metric for objective in view.study.objectives)
    return [
        Control("x", "x", "metric", metrics, first),
        Control("y", "y", "metric", metrics, second),
        Control("z", "z", "metric", [(NONE, "none"), *metrics], more[0] if more else NONE),
    ]


FIGURE = Figure(
    "pareto-front",
    "Pareto front",
    "the non-dominated trials of each arm for any two metrics, or three",
    "main",
    (),
    figure,
    controls,
)
