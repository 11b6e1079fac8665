"""Attainment: which trade-offs half of an arm's seeds reach, and how far seeds differ (25 to 75 %)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from service.analysis import Axis, Point, points_of
from service.analysis.attainment import Place, staircase, surfaces, worst_corner
from service.answers import candidates, chosen_axes
from service.comparison import lost_seeds
from service.contract.metrics import described
from service.contract.palette import arm_style
from service.figures.figure import Asked, Control, Figure
from service.figures.style import axis_layout, layout, short, title_of
from service.store.views import StudyView

MOST_MARKS = 24


class ArmAttainment(NamedTuple):
    """Lines from one edge of the box to the other; empty where no share of the seeds that large attains anything."""

    name: str
    seeds: int
    median: list[Place]
    corners: list[Place]  # of the median: what is just attained
    quarter: list[Place]
    three_quarters: list[Place]


class AttainmentData(NamedTuple):
    axes: tuple[Axis, Axis]
    arms: list[ArmAttainment]
    worst: Place  # where the box of all arms ends


def sets_of(view: StudyView, points: Sequence[Point], arm: str) -> dict[int, list[Point]]:
    """An arm's points by seed; a seed that is lost, all its trials failed or collapsed, attains nothing."""
    found: dict[int, list[Point]] = {seed: [] for name, seed in sorted(lost_seeds(view)) if name == arm}
    for point in points:
        if point.arm == arm:
            found.setdefault(point.seed, []).append(point)
    return found


def arm_attainment(name: str, sets: Mapping[int, Sequence[Point]], axes: Sequence[Axis], worst: Place) -> ArmAttainment:
    fronts = surfaces(sets, axes)
    lines = {level: staircase(fronts.get(level, []), axes, worst) for level in (25, 50, 75)}
    return ArmAttainment(name, len(sets), lines[50], fronts.get(50, []), lines[25], lines[75])


def attainment_data(view: StudyView, x: str | None, y: str | None) -> AttainmentData:
    axes = chosen_axes(view, x, y)
    points = points_of(candidates(view), axes)
    worst = worst_corner(points, axes) if points else (0.0, 0.0)
    arms = [arm_attainment(arm.name, sets_of(view, points, arm.name), axes, worst) for arm in view.study.arms]
    return AttainmentData(axes, arms, worst)


def _line(places: Sequence[Place]) -> dict[str, Any]:
    return {"x": [short(x) for x, _ in places], "y": [short(y) for _, y in places]}


def _band(arm: ArmAttainment, worst: Place) -> list[Place]:
    """From the surface of a quarter and back along that of three quarters, or along the box where there is none."""
    if not arm.quarter:
        return []
    back = arm.three_quarters[::-1] or [worst]
    return [*arm.quarter, *back]


def arm_traces(arm: ArmAttainment, index: int, hover: str, dash: str = "solid") -> list[dict[str, Any]]:
    """The median as a stepped line, some of its corners marked with the arm's shape."""
    colour, symbol = arm_style(index)
    step = -(-len(arm.corners) // MOST_MARKS) or 1
    common = {"type": "scatter", "name": arm.name, "legendgroup": arm.name, "showlegend": False}
    line = {**_line(arm.median), "mode": "lines", "line": {"color": colour, "width": 2, "dash": dash}}
    marks = {**_line(arm.corners[::step]), "mode": "markers", "hovertemplate": hover, "showlegend": True}
    marks["marker"] = {"color": colour, "symbol": symbol, "size": 6}
    return [{**common, **line, "hoverinfo": "skip"}, {**common, **marks}]


def wishes(axes: Sequence[Axis]) -> str:
    """Which way is better: what lies on the other side of a line is attained."""
    words = [f"{'less' if axis.goal == 'minimize' else 'more'} {described(axis.metric).label}" for axis in axes]
    return f"{' and '.join(words)} is better"


def seeds_words(arms: Sequence[ArmAttainment]) -> str:
    counts = {arm.name: arm.seeds for arm in arms if arm.seeds}
    if not counts:
        return ""
    if max(counts.values()) == 1:
        return "one seed: its front, no band"
    single = [name for name, seeds in counts.items() if seeds == 1]
    several = sorted({seeds for seeds in counts.values() if seeds > 1})
    words = f"{' or '.join(map(str, several))} seeds: line attained by at least half, band 25 to 75 % of them"
    return words + (f" · one seed, no band: {', '.join(single)}" if single else "")


def _summary(data: AttainmentData) -> str:
    """What half of the seeds reach of the second objective, at any price in the first."""
    y = data.axes[1]
    pick = min if y.goal == "minimize" else max
    words = [f"{arm.name} {pick(place[1] for place in arm.corners):.3g}" for arm in data.arms if arm.corners]
    return f"Best {title_of(y.metric)} that half of the seeds attain: {', '.join(words)}." if words else ""


def draw_attainment(data: AttainmentData, revision: str) -> dict[str, Any]:
    x, y = data.axes
    values = f"{title_of(x.metric)} %{{x:.3g}}<br>{title_of(y.metric)} %{{y:.3g}}"
    places = [place for arm in data.arms for place in (*arm.quarter, *arm.median)]
    bands, lines = [], []
    for i, arm in enumerate(data.arms):
        hover = f"half of {arm.seeds} seeds attain<br>" if arm.seeds > 1 else "one seed attains<br>"
        lines += arm_traces(arm, i, hover + values + "<extra>%{fullData.name}</extra>")
        fill = {"fill": "toself", "fillcolor": arm_style(i)[0], "line": {"width": 0}, "opacity": 0.16}
        band = {"type": "scatter", "mode": "lines", "name": arm.name, "legendgroup": arm.name, "showlegend": False}
        bands.append({**band, **_line(_band(arm, data.worst)), **fill, "hoverinfo": "skip"})
    drawing = layout(
        axis_layout(x.metric, [place[0] for place in places]),
        axis_layout(y.metric, [place[1] for place in places]),
        " · ".join(filter(None, [seeds_words(data.arms), wishes(data.axes)])),
        revision,
        summary=_summary(data),
    )
    return {"data": [*bands, *lines], "layout": drawing}


def figure(asked: Asked) -> dict[str, Any]:
    return draw_attainment(attainment_data(asked.view, asked.x, asked.y), asked.revision)


def axes_controls(view: StudyView) -> list[Control]:
    metrics = [(name, title_of(name)) for name in view.study.metrics]
    first, second = (objective.metric for objective in view.study.objectives[:2])
    return [Control("x", "x", "metric", metrics, first), Control("y", "y", "metric", metrics, second)]


FIGURE = Figure(
    "attainment",
    "Attainment",
    "what at least half of an arm's seeds attain of two metrics, with the band of 25 to 75 % of the seeds",
    "cost",
    (),
    figure,
    axes_controls,
)
