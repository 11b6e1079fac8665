"""Attainment: which trade-offs half of an arm's seeds reach, and how far seeds differ (25 to 75 %)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from service.analysis import Axis
from service.analysis.attainment import Place, worst_corner
from service.analysis.candidates import chooser, chosen_axes, points_on
from service.contract.wire.plotly import PlotlyFigure
from service.contract.wording.chosen_split import Chooser, selection_words
from service.contract.wording.numbers import number
from service.contract.wording.palette import arm_style
from service.figures.drawing.attained import (
    ArmAttainment,
    arm_attainment,
    arm_traces,
    axes_controls,
    line_of,
    sets_of,
    wishes,
)
from service.figures.drawing.style import axis_layout, layout, title_of
from service.figures.figure import Asked, Figure
from service.views.view import View


class AttainmentData(NamedTuple):
    axes: tuple[Axis, Axis]
    arms: list[ArmAttainment]
    worst: Place  # where the box of all arms ends
    chooser: Chooser | None  # the split that chose what a seed attains


def attainment_data(view: View, x: str | None, y: str | None) -> AttainmentData:
    axes = chosen_axes(view, x, y)
    points = points_on(view, axes)
    worst = worst_corner(points, axes) if points else (0.0, 0.0)
    arms = [arm_attainment(arm.name, sets_of(view, points, arm.name), axes, worst) for arm in view.study.arms]
    return AttainmentData(axes, arms, worst, chooser(view))


def _band(arm: ArmAttainment, worst: Place) -> list[Place]:
    """From the surface of a quarter and back along that of three quarters, or along the box where there is none."""
    if not arm.quarter:
        return []
    back = arm.three_quarters[::-1] or [worst]
    return [*arm.quarter, *back]


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
    words = [f"{arm.name} {number(pick(place[1] for place in arm.corners))}" for arm in data.arms if arm.corners]
    return f"Best {title_of(y.metric)} that half of the seeds attain: {', '.join(words)}." if words else ""


def draw_attainment(data: AttainmentData, revision: str) -> PlotlyFigure:
    x, y = data.axes
    places = [place for arm in data.arms for place in (*arm.quarter, *arm.median)]
    bands, lines = [], []
    for i, arm in enumerate(data.arms):
        attained = f"half of {arm.seeds} seeds attain" if arm.seeds > 1 else "one seed attains"
        lines += arm_traces(arm, i, data.axes, attained)
        fill = {"fill": "toself", "fillcolor": arm_style(i)[0], "line": {"width": 0}, "opacity": 0.16}
        band = {"type": "scatter", "mode": "lines", "name": arm.name, "legendgroup": arm.name, "showlegend": False}
        bands.append({**band, **line_of(_band(arm, data.worst)), **fill, "hoverinfo": "skip"})
    split = selection_words(data.chooser) if places else ""
    drawing = layout(
        axis_layout(x.metric, [place[0] for place in places]),
        axis_layout(y.metric, [place[1] for place in places]),
        " · ".join(filter(None, [seeds_words(data.arms), wishes(data.axes), split])),
        revision,
        summary=_summary(data),
    )
    return {"data": [*bands, *lines], "layout": drawing}


def figure(asked: Asked) -> PlotlyFigure:
    return draw_attainment(attainment_data(asked.view, asked.x, asked.y), asked.revision)


FIGURE = Figure(
    "attainment",
    "Attainment",
    "what at least half of an arm's seeds attain of two metrics, with the band of 25 to 75 % of the seeds",
    "cost",
    (),
    figure,
    axes_controls,
)
