"""Attainment difference: where one of two arms attains a trade-off in more seeds than the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from service.analysis import Axis
from service.analysis.attainment import Place, Rectangle, difference, worst_corner
from service.analysis.candidates import chooser, chosen_axes, points_on
from service.contract.methods.weightings import BY_HAND, REFERENCES
from service.contract.study.expansion import count_trials
from service.contract.study.study import Study
from service.contract.wire.plotly import PlotlyFigure, Trace
from service.contract.wording.chosen_split import Chooser, selection_words
from service.contract.wording.numbers import plural
from service.contract.wording.palette import arm_style
from service.figures.drawing.attained import ArmAttainment, arm_attainment, arm_traces, axes_controls, sets_of, wishes
from service.figures.drawing.choices import chosen_arms
from service.figures.drawing.style import axis_layout, layout, short
from service.figures.figure import Asked, Control, Figure
from service.views.view import View

FAINTEST, STRONGEST = 0.15, 0.8  # opacity of a hue where one seed differs, where all do
MOST_LEVELS = 3  # in the legend; of more the strongest and the faintest


class DifferenceData(NamedTuple):
    axes: tuple[Axis, Axis]
    arms: tuple[str, str]
    places: tuple[int, int]  # in the study, for their colours
    seeds: list[int]  # those both have
    rectangles: list[Rectangle]
    lines: list[ArmAttainment]  # the medians of both over those seeds
    ready: bool  # both have a result
    chooser: Chooser | None  # the split that chose what a seed attains


def default_arms(study: Study) -> tuple[str, str]:
    """The named baseline, or the arm by hand with most trials, against the first automatic one; else the first two."""
    names = [arm.name for arm in study.arms]
    automatic = [arm.name for arm in study.arms if arm.weighting.name not in BY_HAND]
    by_hand = [a.name for a in study.arms if a.name not in automatic and a.weighting.name not in REFERENCES]
    planned = count_trials(study)
    first = study.baseline or (max(by_hand, key=lambda name: planned[name]) if by_hand else names[0])
    second = next((name for name in (*automatic, *names) if name != first), first)
    return first, second


def difference_data(view: View, x: str | None, y: str | None, arms: Sequence[str]) -> DifferenceData:
    axes = chosen_axes(view, x, y)
    chosen = chosen_arms(view, arms, default_arms(view.study))
    points = points_on(view, axes)
    first, second = (sets_of(view, points, arm) for arm in chosen)
    seeds = sorted(set(first) & set(second))
    first, second = ({seed: own[seed] for seed in seeds} for own in (first, second))
    both = [point for own in (first, second) for group in own.values() for point in group]
    worst: Place = worst_corner(both, axes) if both else (0.0, 0.0)
    names = [arm.name for arm in view.study.arms]
    lines = [arm_attainment(arm, own, axes, worst) for arm, own in zip(chosen, (first, second), strict=True)]
    return DifferenceData(
        axes,
        chosen,
        (names.index(chosen[0]), names.index(chosen[1])),
        seeds,
        difference(first, second, axes, worst),
        lines,
        {point.arm for point in points} >= set(chosen),
        chooser(view),
    )


def tint(colour: str, share: float) -> str:
    """The hue, the stronger the larger the share of seeds."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{short(FAINTEST + (STRONGEST - FAINTEST) * share):g})"


def _areas(data: DifferenceData) -> list[Trace]:
    """One trace per arm and number of seeds: few traces draw fast."""
    traces = []
    total = len(data.seeds)
    levels = sorted({rectangle.seeds for rectangle in data.rectangles}, key=lambda s: (s < 0, -abs(s)))
    ends = {end for own in ([s for s in levels if s > 0], [s for s in levels if s < 0]) for end in (own[:1] + own[-1:])}
    for seeds in levels:
        arm = 0 if seeds > 0 else 1
        share = abs(seeds) / total if total > 1 else 0.5
        x: list[float | None] = []
        y: list[float | None] = []
        for (x0, y0), (x1, y1), own in data.rectangles:
            if own == seeds:
                x += [*map(short, (x0, x1, x1, x0)), None]
                y += [*map(short, (y0, y0, y1, y1)), None]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": f"{data.arms[arm]} +{abs(seeds)} of {total}",
                "showlegend": seeds in ends or total <= MOST_LEVELS,
                "x": x,
                "y": y,
                "fill": "toself",
                "fillcolor": tint(arm_style(data.places[arm])[0], share),
                "line": {"width": 0},
                "hoveron": "fills",
                "text": f"{data.arms[arm]} in {abs(seeds)} more of {plural(total, 'seed')}",
                "hoverinfo": "text",
            }
        )
    return traces


def _words(data: DifferenceData) -> str:
    if not data.seeds:
        return ""
    if len(data.seeds) == 1:
        return "one seed: trade-offs that only one of the two arms attains"
    return f"stronger colour: more of the {len(data.seeds)} seeds · lines: attained by half of the seeds"


def _summary(data: DifferenceData) -> str:
    most = [
        max((sign * rectangle.seeds for rectangle in data.rectangles if sign * rectangle.seeds > 0), default=0)
        for sign in (1, -1)
    ]
    if not data.ready or not data.seeds:
        return ""
    if not any(most):
        return f"{data.arms[0]} and {data.arms[1]} attain the same."
    words = [
        f"{arm} attains some trade-offs in up to {count} more of {plural(len(data.seeds), 'seed')}"
        if count
        else f"{arm} attains none in more seeds"
        for arm, count in zip(data.arms, most, strict=True)
    ]
    return "; ".join(words) + "."


def draw_difference(data: DifferenceData, revision: str) -> PlotlyFigure:
    x, y = data.axes
    lines = [
        trace
        for arm, place, dash in zip(data.lines, data.places, ("solid", "dash"), strict=True)
        for trace in arm_traces(arm, place, data.axes, "half of the seeds attain", dash)
    ]
    places = [place for arm in data.lines for place in arm.median]
    places += [place for rectangle in data.rectangles for place in rectangle[:2]]
    split = selection_words(data.chooser) if data.seeds else ""
    drawing = layout(
        axis_layout(x.metric, [place[0] for place in places]),
        axis_layout(y.metric, [place[1] for place in places]),
        " · ".join(filter(None, [_words(data), wishes(data.axes), split])),
        revision,
        summary=_summary(data),
        empty=f"{data.arms[0]} and {data.arms[1]} have no seed in common." if data.ready and not data.seeds else "",
    )
    return {"data": [*_areas(data), *lines], "layout": drawing}


def figure(asked: Asked) -> PlotlyFigure:
    return draw_difference(difference_data(asked.view, asked.x, asked.y, asked.arms), asked.revision)


def controls(view: View) -> list[Control]:
    arms = [(arm.name, arm.name) for arm in view.study.arms]
    first, second = default_arms(view.study)
    pair = [Control("arm", "arm", "choice", arms, first), Control("arm", "against", "choice", arms, second)]
    return [*pair, *axes_controls(view)]


def has_two_arms(study: Study) -> bool:
    return len(study.arms) > 1


FIGURE = Figure(
    "attainment-difference",
    "Attainment difference",
    "where one of two arms attains two metrics in more seeds than the other",
    "cost",
    (),
    figure,
    controls,
    has_two_arms,
)
