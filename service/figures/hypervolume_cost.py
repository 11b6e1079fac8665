"""Hypervolume against cost: what an arm had after so much training, and what the baseline spends to have as much."""

from __future__ import annotations

import math
from typing import NamedTuple

from service.analysis import Interval, mean_interval
from service.analysis.compared import ArmCompared, compared
from service.analysis.cost import CostCurve
from service.analysis.intervals import interval_words
from service.contract.methods.searches import Suggesting
from service.contract.metrics import SECONDS
from service.contract.wire.plotly import PlotlyFigure, Trace
from service.contract.wording.chosen_split import Chooser, selection_words
from service.contract.wording.numbers import duration, number, plural, setting
from service.contract.wording.palette import arm_style
from service.figures.drawing.bands import bars, drawn_of_seeds
from service.figures.drawing.choices import one_of
from service.figures.drawing.hover import hover
from service.figures.drawing.style import LOG_WHEN_RATIO, TRUTH_COLOUR, layout, short
from service.figures.figure import Asked, Control, Figure
from service.views.view import View

COSTS = [(SECONDS, "training seconds"), ("trials", "trials")]
TITLES = {SECONDS: "training time per seed [s]", "trials": "trials per seed"}
APART = 0.08  # of the height: words nearer than this would cover each other, the later say theirs when pointed at
NOTHING = CostCurve([], [], [], [], [])  # of an arm that has no value of an objective
VOLUME = (0.0, float("inf"))


class ArmCost(NamedTuple):
    """A curve over cost; an arm of one trial per seed is a place with an interval in both directions."""

    name: str
    cost: list[float]
    mean: list[float]
    low: list[float | None]
    high: list[float | None]
    place: tuple[Interval, Interval] | None  # cost, hypervolume
    trials: list[str]  # of such a place


class Reached(NamedTuple):
    """From the end of an arm's curve to where the baseline has the same hypervolume."""

    arm: str
    baseline: str
    hypervolume: float
    start: float
    cost: Interval
    seeds: int  # in which it gets there
    of: int


class CostData(NamedTuple):
    by: str
    arms: list[ArmCost]
    reached: list[Reached]
    never: list[tuple[str, str]]  # (baseline, arm) whose hypervolume it has in no seed
    reference: list[float | None]
    seeds: int
    searched: bool
    chooser: Chooser | None  # the split that chose what a hypervolume is of


def _planned_per_seed(view: View, arm: str) -> int:
    seeds = [trial.planned.seed for trial in view.trials.values() if trial.planned.arm == arm]
    return max((seeds.count(seed) for seed in set(seeds)), default=0)


def _arm_cost(view: View, arm: ArmCompared, by: str) -> ArmCost:
    volume = arm.result.hypervolume
    curve = arm.cost if volume.seeds else NOTHING
    cost = curve.seconds if by == SECONDS else [float(count) for count in curve.trials]
    own = [trial for trial in view.ended if view.trials[trial].planned.arm == arm.name]
    drawn = ArmCost(arm.name, cost, curve.mean, curve.low, curve.high, None, [])
    if _planned_per_seed(view, arm.name) != 1 or not own or volume.mean is None:
        return drawn
    spent = mean_interval([view.trials[trial].training_seconds or 0.0 for trial in own])
    each = spent if by == SECONDS else Interval(1.0, None, len(own))
    return drawn._replace(place=(each, volume), trials=own)


def cost_data(view: View, x: str | None) -> CostData:
    """Curves and reach as in the comparison; cost is per seed: what one run of the arm with one seed spends.

    A single point has a hypervolume that says where it lies, not how good it is: nothing is as good by it.
    """
    by = one_of(x, COSTS, "x", SECONDS)
    comparison = compared(view)
    arms = {arm.name: _arm_cost(view, arm, by) for arm in comparison.arms}
    asking = {arm.name for arm in comparison.arms if arm.automatic and arm.place.draws_front}
    reached, never = [], []
    for pair in comparison.pairs:
        own, reach = arms[pair.arm], pair.reach
        if own.name not in asking or not own.cost or arms[pair.baseline].place is not None:
            continue  # a baseline of one trial has no cost to choose
        if not reach.reached:
            never += [(pair.baseline, own.name)] if reach.of else []
            continue
        cost = reach.seconds if by == SECONDS else Interval(reach.trials, None, reach.reached)
        reached.append(Reached(own.name, pair.baseline, own.mean[-1], own.cost[-1], cost, reach.reached, reach.of))
    reference = [axis.reference for axis in comparison.objectives]
    searched = any(isinstance(arm.search, Suggesting) for arm in view.study.arms)
    seeds = max(arm.result.hypervolume.seeds for arm in comparison.arms)
    return CostData(by, list(arms.values()), reached, never, reference, seeds, searched, comparison.chooser)


def cost_words(value: float, by: str) -> str:
    return duration(value) if by == SECONDS else plural(value, "trial")


def reach_words(reach: Reached, by: str) -> str:
    """`manual β needs 6.2 s`."""
    words = f"{reach.baseline} needs {cost_words(reach.cost.mean or 0.0, by)}"
    return words if reach.seeds == reach.of else f"{words}, in {reach.seeds} of {reach.of} seeds"


def _stepped(xs: list[float], ys: list[float]) -> tuple[list[float], list[float]]:
    """The corners of a curve that keeps its height until the next place."""
    x = [a for pair in zip(xs[:1] + xs[1:], xs[1:] + xs[-1:], strict=True) for a in pair]
    return x, [y for y in ys for _ in (0, 1)]


def _band(arm: ArmCost, colour: str) -> Trace:
    wide = [
        (x, low, high)
        for x, low, high in zip(arm.cost, arm.low, arm.high, strict=True)
        if low is not None and high is not None
    ]
    xs = [short(x) for x, _, _ in wide]
    x, low = _stepped(xs, [short(low) for _, low, _ in wide])
    _, high = _stepped(xs, [short(high) for _, _, high in wide])
    line = {"mode": "lines", "x": x + x[::-1], "y": low + high[::-1], "line": {"width": 0}}
    return {**line, "fill": "toself", "fillcolor": colour, "opacity": 0.16, "hoverinfo": "skip", "showlegend": False}


def _arm_traces(arm: ArmCost, index: int, by: str) -> list[Trace]:
    colour, symbol = arm_style(index)
    common = {"type": "scatter", "name": arm.name, "legendgroup": arm.name}
    if arm.place is not None:
        cost, volume = arm.place
        mark: Trace = {"mode": "markers", "x": [short(cost.mean or 0.0)], "y": [short(volume.mean or 0.0)]}
        mark |= hover([f"hypervolume {interval_words(volume)}<br>after {cost_words(cost.mean or 0.0, by)}"])
        mark["marker"] = {"color": colour, "symbol": symbol, "size": 11}
        mark |= {"error_x": bars([cost], VOLUME, colour), "error_y": bars([volume], VOLUME, colour)}
        return [{**common, **mark, **({"customdata": arm.trials} if len(arm.trials) == 1 else {})}]
    counted = zip(arm.cost, arm.mean, arm.low, arm.high, strict=True)
    line = {
        "mode": "lines+markers",
        "x": [short(x) for x in arm.cost],
        "y": [short(y) for y in arm.mean],
        **hover(
            f"after {cost_words(x, by)}: {number(mean)}"
            + ("" if low is None else f", 95 % {number(low)} … {number(high)}")
            for x, mean, low, high in counted
        ),
        "line": {"color": colour, "width": 1.5, "shape": "hv"},
        "marker": {"color": colour, "symbol": symbol, "size": 5},
    }
    return [{**common, **_band(arm, colour)}, {**common, **line}]


def _noted(data: CostData) -> list[Reached]:
    """Those whose words have room."""
    heights = [y for arm in data.arms for y in (*arm.mean, *(high for high in arm.high if high is not None))]
    room = APART * (max(heights, default=0.0) - min(heights, default=0.0))
    noted: list[Reached] = []
    for reach in data.reached:
        if all(abs(reach.hypervolume - other.hypervolume) > room for other in noted):
            noted.append(reach)
    return noted


def _reach_trace(reach: Reached, by: str, with_words: bool, to_the_left: bool) -> Trace:
    """Dotted, from the arm to the baseline's cost, whose interval is a bar."""
    end = reach.cost.mean or 0.0
    words = reach_words(reach, by)
    return {
        "type": "scatter",
        "mode": "lines+text" if with_words else "lines",
        "name": f"{reach.baseline} with {reach.arm}’s hypervolume",
        "showlegend": False,
        "x": [short(reach.start), short(end)],
        "y": [short(reach.hypervolume)] * 2,
        "text": ["", words],
        "textposition": "bottom left" if to_the_left else "bottom right",
        "hovertemplate": f"{words}<br>for the hypervolume of {reach.arm}<extra></extra>",
        "line": {"color": TRUTH_COLOUR, "width": 1.5, "dash": "dot"},
        "error_x": bars([Interval(reach.start, None, 1), reach.cost], VOLUME, TRUTH_COLOUR, 1),
    }


def _subtitle(data: CostData) -> str:
    curve = any(arm.place is None and arm.cost for arm in data.arms)
    parts = [
        "two seeds: mean, no interval" if data.seeds == 2 else drawn_of_seeds(data.seeds),
        "a grid's trials in random order" + (", a search's in its own" if data.searched else "") if curve else "",
        f"reference point ({', '.join(setting(r) for r in data.reference if r is not None)})",
        selection_words(data.chooser) if any(arm.cost for arm in data.arms) else "",
    ]
    return " · ".join(filter(None, parts))


def _summary(data: CostData) -> str:
    sentences = [f"{reach_words(reach, data.by)} for the hypervolume of {reach.arm}" for reach in data.reached]
    sentences += [f"{baseline} never reaches the hypervolume of {arm}" for baseline, arm in data.never]
    fronts = [f"{arm.name} {number(arm.mean[-1])}" for arm in data.arms if arm.mean and arm.place is None]
    if not sentences and fronts:
        sentences = [f"Hypervolume at the end: {', '.join(fronts)}"]
    return "; ".join(sentences) + "." if sentences else ""


def draw_cost(data: CostData, revision: str) -> PlotlyFigure:
    traces = [trace for i, arm in enumerate(data.arms) for trace in _arm_traces(arm, i, data.by) if arm.cost]
    costs = [x for arm in data.arms for x in arm.cost] + [reach.cost.mean or 0.0 for reach in data.reached]
    log = bool(costs) and min(costs) > 0 and max(costs) / min(costs) > LOG_WHEN_RATIO
    middle = math.sqrt(min(costs) * max(costs)) if log else sum((min(costs), max(costs))) / 2 if costs else 0.0
    noted = _noted(data)
    dotted = [
        _reach_trace(reach, data.by, reach in noted, (reach.cost.mean or 0.0) > middle)  # where there is room
        for reach in data.reached
    ]
    x = {"title": {"text": TITLES[data.by]}, "zeroline": False, "automargin": True}
    if log:
        x |= {"type": "log", "dtick": 1 if max(costs) / min(costs) >= 300 else "D2"}
    y = {"title": {"text": "hypervolume"}, "zeroline": False, "automargin": True}
    empty = "A curve begins with the first trial that has ended."
    drawing = layout(x, y, _subtitle(data), revision, summary=_summary(data), empty=empty)
    return {"data": [*dotted, *traces], "layout": drawing}


def figure(asked: Asked) -> PlotlyFigure:
    return draw_cost(cost_data(asked.view, asked.x), asked.revision)


def controls(view: View) -> list[Control]:
    return [Control("x", "against", "choice", COSTS, SECONDS)]


FIGURE = Figure(
    "hypervolume-cost",
    "Hypervolume against cost",
    "hypervolume after a number of training seconds or trials (x), and what the grid needs for that of an automatic "
    "arm that draws a front itself",
    "cost",
    (),
    figure,
    controls,
)
