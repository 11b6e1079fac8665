"""How a front was filled: the values in the order in which they were tried, and the gaps that are left."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from service.analysis.candidates import chooser
from service.contract.methods.searches import FillSearch
from service.contract.study.gaps import Gap, gaps
from service.contract.study.outcomes import objective_values
from service.contract.study.study import Study
from service.contract.wire.events import TrialState
from service.contract.wire.plotly import PlotlyFigure, Trace
from service.contract.wording.chosen_split import Chooser, on_split
from service.contract.wording.numbers import number, plural, setting
from service.contract.wording.palette import arm_style
from service.figures.drawing.configurations import at_places
from service.figures.drawing.hover import hover, value_lines
from service.figures.drawing.style import Measured, axis_layout, layout, short, title_of
from service.figures.drawing.trial_labels import config_label, point_label
from service.figures.figure import Asked, Figure
from service.views.selectors import configurations, varied_keys
from service.views.view import View


class FilledPlace(NamedTuple):
    """A value of an arm, or a place of its curve: which of its values, and the means over seeds that chose the next."""

    trial: str
    label: str
    order: int
    seeds: int
    values: tuple[float, float]


class ArmFilling(NamedTuple):
    """What an arm's values reached, and the gaps between them along the front; none is allowed where nobody filled."""

    name: str
    tolerance: float | None
    places: list[FilledPlace]
    gaps: list[Gap]

    @property
    def largest(self) -> Gap | None:
        return max(self.gaps, key=lambda gap: gap.size, default=None)


class FillingData(NamedTuple):
    metrics: list[str]  # of both axes
    arms: list[ArmFilling]
    chooser: Chooser | None  # the split that a search sees, which is shown here


def filling_data(view: View) -> FillingData:
    """Every arm, so that those that fill can be seen beside those that do not; by what chooses, as a search sees it."""
    study, metrics = view.study, view.study.choosing
    signs = [1.0 if objective.goal == "minimize" else -1.0 for objective in study.objectives]
    arms = []
    for arm in study.arms:
        places = _places(view, arm.name, metrics)
        points = [(signs[0] * place.values[0], signs[1] * place.values[1]) for place in places]
        tolerance = arm.search.tolerance if isinstance(arm.search, FillSearch) else None
        arms.append(ArmFilling(arm.name, tolerance, places, gaps(points)))
    return FillingData(metrics, arms, chooser(view))


def _places(view: View, arm: str, metrics: Sequence[str]) -> list[FilledPlace]:
    """Slots of a search stand in the order in which their values were chosen; a curve has all of its points."""
    varied = varied_keys(view, arm)
    places: list[FilledPlace] = []
    for order, own in enumerate(configurations(view, arm), 1):
        finished = [each for each in own if view.trials[each].state is TrialState.FINISHED]
        for where, measured in at_places(view, finished):
            kept = {each: own for each, own in measured.items() if view.trials[each].counts_at(own)}
            told = {each: objective_values(own, metrics) for each, own in kept.items()}
            reached = [values for values in told.values() if values is not None]
            if reached:
                first = next(each for each, values in told.items() if values is not None)
                label = point_label(where, config_label(view.trials[first].planned.config, varied))
                values = fmean(x for x, _ in reached), fmean(y for _, y in reached)
                places.append(FilledPlace(first, label, order, len(reached), values))
    return places


def _words(data: FillingData, place: FilledPlace) -> str:
    said = value_lines([title_of(metric) for metric in data.metrics], place.values)
    return f"{place.label or 'one value'}, number {place.order}, {plural(place.seeds, 'seed')}<br>{said}"


def _traces(data: FillingData, arm: ArmFilling, index: int) -> list[Trace]:
    """All places, the line along the front, and the largest gap on top of it; who fills has numbers beside."""
    colour, symbol = arm_style(index)
    line = [*(arm.places[gap.first] for gap in arm.gaps), *(arm.places[gap.second] for gap in arm.gaps[-1:])]
    widest = [arm.places[i] for i in arm.largest[:2]] if arm.largest else []
    shared = {"type": "scatter", "name": arm.name, "legendgroup": arm.name}
    traces: list[Trace] = [
        {**shared, **_xy(line), "mode": "lines", "showlegend": False, "hoverinfo": "skip"}
        | {"line": {"color": colour, "width": 1}},
        {**shared, **_xy(widest), "mode": "lines", "showlegend": False, "hoverinfo": "skip"}
        | {"line": {"color": colour, "width": 4, "dash": "dot"}},
        {
            **shared,
            **_xy(arm.places),
            "mode": "markers",
            "showlegend": True,
            **hover(_words(data, place) for place in arm.places),
            "customdata": [place.trial for place in arm.places],
            "marker": {"color": colour, "symbol": symbol, "size": 8},
        },
    ]
    if arm.tolerance is not None:
        numbers = {"text": [str(place.order) for place in arm.places], "textposition": "top right"}
        font = {"textfont": {"color": colour, "size": 11}}
        traces.append(
            {**shared, **_xy(arm.places), "mode": "text", "showlegend": False, "hoverinfo": "skip", **numbers, **font}
        )
    return traces


def _xy(places: Sequence[FilledPlace]) -> Trace:
    return {"x": [short(place.values[0]) for place in places], "y": [short(place.values[1]) for place in places]}


def gap_words(arm: ArmFilling) -> str:
    """`filled: 12 values, largest gap 0.221 (0.1 allowed)`."""
    count = plural(len(arm.places), "value")
    allowed = "" if arm.tolerance is None else f" ({setting(arm.tolerance)} allowed)"
    return f"{arm.name}: {count}, " + (f"largest gap {number(arm.largest.size)}{allowed}" if arm.largest else "no gap")


def draw_filling(data: FillingData, revision: str) -> PlotlyFigure:
    drawn = [place.values for arm in data.arms for place in arm.places]
    x, y = (axis_layout(metric, [values[i] for values in drawn]) for i, metric in enumerate(data.metrics))
    means = f"means over seeds{on_split(data.chooser)}, by which is chosen" if data.chooser else "means over seeds"
    subtitle = f"{means} · numbers: in this order · dotted: the largest gap of each arm"
    told = [arm for arm in data.arms if arm.places]
    summary = (
        "; ".join(map(gap_words, told)) + ". Gaps are shares of each objective's range over the front." if told else ""
    )
    return {
        "data": [trace for i, arm in enumerate(data.arms) for trace in _traces(data, arm, i)],
        "layout": layout(
            x,
            y,
            subtitle,
            revision,
            summary=summary,
            empty="Points appear when the first trials have finished.",
            axes=[Measured(metric) for metric in data.metrics],
        ),
    }


def figure(asked: Asked) -> PlotlyFigure:
    return draw_filling(filling_data(asked.view), asked.revision)


def applies(study: Study) -> bool:
    return len(study.objectives) == 2 and any(isinstance(arm.search, FillSearch) for arm in study.arms)


FIGURE = Figure(
    "filling",
    "Filling the front",
    "the values of each arm in the order in which they were tried, and the largest gap between neighbours on the front",
    "sensitivity",
    (),
    figure,
    applies=applies,
)
