"""What an arm's seeds attain of two metrics, and how it is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from service.analysis import Axis, Point
from service.analysis.attainment import Place, staircase, surfaces
from service.contract.metrics import described
from service.contract.wire.plotly import Trace
from service.contract.wording.palette import arm_style
from service.figures.drawing.choices import axes_of
from service.figures.drawing.hover import hover, value_lines
from service.figures.drawing.style import short, title_of
from service.figures.figure import Control
from service.views.selectors import lost_seeds
from service.views.view import View

MOST_MARKS = 24


class ArmAttainment(NamedTuple):
    """Lines from one edge of the box to the other; empty where no share of the seeds that large attains anything."""

    name: str
    seeds: int
    median: list[Place]
    corners: list[Place]  # of the median: what is just attained
    quarter: list[Place]
    three_quarters: list[Place]


def sets_of(view: View, points: Sequence[Point], arm: str) -> dict[int, list[Point]]:
    """An arm's points by seed; a seed that is lost, all its trials failed or collapsed, attains nothing."""
    sets: dict[int, list[Point]] = {seed: [] for name, seed in sorted(lost_seeds(view)) if name == arm}
    for point in points:
        if point.arm == arm:
            sets.setdefault(point.seed, []).append(point)
    return sets


def arm_attainment(name: str, sets: Mapping[int, Sequence[Point]], axes: Sequence[Axis], worst: Place) -> ArmAttainment:
    fronts = surfaces(sets, axes)
    lines = {level: staircase(fronts.get(level, []), axes, worst) for level in (25, 50, 75)}
    return ArmAttainment(name, len(sets), lines[50], fronts.get(50, []), lines[25], lines[75])


def line_of(places: Sequence[Place]) -> Trace:
    return {"x": [short(x) for x, _ in places], "y": [short(y) for _, y in places]}


def arm_traces(arm: ArmAttainment, index: int, axes: Sequence[Axis], attained: str, dash: str = "solid") -> list[Trace]:
    """The median as a stepped line, some of its corners marked with the arm's shape; `attained` says by whom."""
    colour, symbol = arm_style(index)
    marked = arm.corners[:: -(-len(arm.corners) // MOST_MARKS) or 1]
    titles = [title_of(axis.metric) for axis in axes]
    common = {"type": "scatter", "name": arm.name, "legendgroup": arm.name, "showlegend": False}
    line = {**line_of(arm.median), "mode": "lines", "line": {"color": colour, "width": 2, "dash": dash}}
    marks = {**line_of(marked), "mode": "markers", "showlegend": True}
    marks |= hover(f"{attained}<br>{value_lines(titles, corner)}" for corner in marked)
    marks["marker"] = {"color": colour, "symbol": symbol, "size": 6}
    return [{**common, **line, "hoverinfo": "skip"}, {**common, **marks}]


def wishes(axes: Sequence[Axis]) -> str:
    """Which way is better: what lies on the other side of a line is attained."""
    words = [f"{'less' if axis.goal == 'minimize' else 'more'} {described(axis.metric).label}" for axis in axes]
    return f"{' and '.join(words)} is better"


def axes_controls(view: View) -> list[Control]:
    metrics = axes_of(view)
    first, second = (objective.metric for objective in view.study.objectives[:2])
    return [Control("x", "x", "metric", metrics, first), Control("y", "y", "metric", metrics, second)]
