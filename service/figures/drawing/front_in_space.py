"""A front of three metrics in space: non-dominated trials strong and on stems, the others muted."""

from __future__ import annotations

from service.analysis import Axis, Point
from service.contract.wire.plotly import Layout, PlotlyFigure, Trace
from service.contract.wording.palette import arm_style
from service.figures.drawing.fronts import ArmFront, FrontData, subtitle_of, summary_of, words_at
from service.figures.drawing.hover import hover
from service.figures.drawing.shades import in_legend, marker_colours
from service.figures.drawing.style import axis_layout, layout, short, title_of

# Plotly has eight markers in space, not all of those it has in the plane.
IN_SPACE = {"triangle-up": "diamond-open", "star": "square-open", "hexagon": "circle-open"}


def _places(points: list[Point]) -> dict[str, list[float]]:
    return {name: [short(point.values[i]) for point in points] for i, name in enumerate("xyz")}


def _stems(points: list[Point], floor: float) -> dict[str, list[float | None]]:
    """A line from each point down to the floor, gaps between them."""
    lines: dict[str, list[float | None]] = {"x": [], "y": [], "z": []}
    for point in points:
        x, y, z = map(short, point.values)
        lines["x"] += [x, x, None]
        lines["y"] += [y, y, None]
        lines["z"] += [z, floor, None]
    return lines


def _traces(data: FrontData, arm: ArmFront, index: int, floor: float) -> list[Trace]:
    colour, symbol = arm_style(index)
    named = {"type": "scatter3d", "name": arm.name, "legendgroup": arm.name, "showlegend": False}
    traces: list[Trace] = [
        {
            **named,
            "mode": "lines",
            **_stems(arm.front, floor),
            "line": {"color": colour, "width": 1.5},
            "opacity": 0.35,
            "hoverinfo": "skip",
        }
    ]
    for points, strong in ((arm.dominated, False), (arm.front, True)):
        traces.append(
            {
                **named,
                "mode": "markers",
                **_places(points),
                **hover(words_at(data, point) for point in points),
                "customdata": [point.trial for point in points],
                "marker": {
                    **marker_colours(arm.shading if strong else None, [point.key for point in points], colour),
                    "symbol": IN_SPACE.get(symbol, symbol),
                    "size": 4 if strong else 2.5,
                    "opacity": 1.0 if strong else 0.3,
                },
            }
        )
    shown = in_legend(arm.name, colour, IN_SPACE.get(symbol, symbol))
    return [*traces, {**shown, "type": "scatter3d", "z": [None]}]


def _axis(axis: Axis, values: list[float]) -> Layout:
    """Small words: in space they stand beside the points, not below them."""
    log = {"type": "log", "dtick": 1} if axis_layout(axis.metric, values).get("type") == "log" else {"nticks": 5}
    title = {"text": title_of(axis.metric), "font": {"size": 11}}
    return {"title": title, "tickfont": {"size": 10}, "zeroline": False, "showbackground": False, **log}


def draw_in_space(data: FrontData, revision: str) -> PlotlyFigure:
    drawn = [point.values for arm in data.arms for point in (*arm.front, *arm.dominated)]
    floor = short(min((values[2] for values in drawn), default=0.0))
    flat = layout({}, {}, subtitle_of(data), revision, summary=summary_of(data))
    axes = {
        f"{name}axis": _axis(axis, [values[i] for values in drawn])
        for i, (name, axis) in enumerate(zip("xyz", data.axes, strict=True))
    }
    camera = {"eye": {"x": 1.55, "y": -1.55, "z": 0.85}, "center": {"x": 0, "y": 0, "z": -0.15}}
    scene = {**axes, "aspectmode": "cube", "camera": camera, "uirevision": revision}
    kept = {key: value for key, value in flat.items() if key not in ("xaxis", "yaxis")}
    return {
        "data": [trace for i, arm in enumerate(data.arms) for trace in _traces(data, arm, i, floor)],
        "layout": {**kept, "margin": {"l": 0, "r": 0, "t": 8, "b": 0}, "scene": scene},
    }
