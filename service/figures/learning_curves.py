"""Learning curves: any metric over epochs per arm, of its best configuration or of all; train accuracy dashed."""

from __future__ import annotations

from typing import NamedTuple

from service.analysis import axis_for
from service.analysis.candidates import chooser
from service.contract.metrics import on_training_split
from service.contract.wire.plotly import PlotlyFigure, Trace
from service.contract.wording.chosen_split import Chooser, on_split
from service.contract.wording.numbers import number
from service.contract.wording.palette import arm_style
from service.figures.drawing.choices import chosen_metric, measured, metric_control, one_of
from service.figures.drawing.configurations import best_of
from service.figures.drawing.hover import hover
from service.figures.drawing.over_epochs import (
    ArmPaths,
    Band,
    PathsData,
    band_of,
    paths_data,
    spread_words,
    within_bounds,
)
from service.figures.drawing.small_plots import draw_paths
from service.figures.drawing.style import title_of
from service.figures.drawing.trial_labels import AT_THE_MIDDLE
from service.figures.figure import Asked, Control, Figure
from service.views.selectors import has_curves
from service.views.view import View

WHICH = [("best", "best configuration"), ("all", "all configurations")]


class CurvesData(NamedTuple):
    metric: str
    which: str
    test: PathsData
    train: dict[str, Band]  # by arm, where the metric has such a side
    chosen: bool  # an arm had several configurations to choose from
    every: int
    chooser: Chooser | None  # the split that chose among configurations
    curves: bool = False  # some trials have many points, of which the middle stands for all


def _best_paths(view: View, metric: str) -> tuple[PathsData, dict[str, list[str]], bool]:
    """Per arm its best configuration by the metric's goal, and which trials that are."""
    goal = axis_for(view.study, metric).goal
    arms, trials, chosen = [], {}, False
    for arm in view.study.arms:
        best = best_of(view, arm.name, metric, goal, along=False)
        trials[arm.name] = [trial for trial in best.trials if view.trials[trial].reports]
        band = band_of([view.trials[trial].path(metric) for trial in trials[arm.name]], "interval")
        arms.append(ArmPaths(arm.name, "interval", len(trials[arm.name]), {metric: band} if band.epochs else {}))
        chosen = chosen or best.of > 1
    return PathsData([metric], 0, arms), trials, chosen


def curves_data(view: View, x: str | None, y: str | None) -> CurvesData:
    metric, which = chosen_metric(view, y), one_of(x, WHICH, "x", "best")
    train: dict[str, Band] = {}
    beside = on_training_split(metric)
    if which == "all":
        data, chosen = paths_data(view, [metric]), False
        if beside in view.metrics:
            own = paths_data(view, [beside])
            train = {arm.name: arm.bands[beside] for arm in own.arms if beside in arm.bands}
    else:
        data, trials, chosen = _best_paths(view, metric)
        if beside in view.metrics:
            bands = {
                arm: band_of([view.trials[i].path(beside) for i in ids], "interval") for arm, ids in trials.items()
            }
            train = {arm: band for arm, band in bands.items() if band.epochs}
    return CurvesData(metric, which, data, train, chosen, view.study.evaluation.every, chooser(view), has_curves(view))


def _train_traces(data: CurvesData) -> list[Trace]:
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": arm.name,
            "legendgroup": arm.name,
            "showlegend": False,
            "x": data.train[arm.name].epochs,
            "y": data.train[arm.name].middle,
            "line": {"color": arm_style(i)[0], "width": 1, "dash": "dash"},
            **hover(
                f"epoch {epoch}: {number(middle)}, training split"
                for epoch, middle in zip(data.train[arm.name].epochs, data.train[arm.name].middle, strict=True)
            ),
        }
        for i, arm in enumerate(data.test.arms)
        if arm.name in data.train
    ]


def _summary(data: CurvesData) -> str:
    lasts = [(arm.name, arm.bands[data.metric]) for arm in data.test.arms if data.metric in arm.bands]
    words = [f"{name} {number(band.middle[-1])} at epoch {band.epochs[-1]}" for name, band in lasts]
    return f"{title_of(data.metric)}: {', '.join(words)}." if words else ""


def draw_curves(data: CurvesData, revision: str) -> PlotlyFigure:
    parts = [
        spread_words(data.test),
        f"best configuration by its last value{on_split(data.chooser)}" if data.chosen else "",
        "dashed: training split" if data.train else "",
        f"measured every {data.every} epochs" if data.every > 1 else "",
        AT_THE_MIDDLE if data.curves else "",
    ]
    drawn = draw_paths(within_bounds(data.test), {}, title_of(data.metric), " · ".join(filter(None, parts)), revision)
    y = drawn["layout"]["yaxis"]
    y["domain"] = [0, 1]  # one plot needs no heading
    y.pop("rangemode", None)  # what matters of an accuracy is often its last tenth
    drawn["layout"]["meta"]["summary"] = _summary(data)
    return {**drawn, "data": [*_train_traces(data), *drawn["data"]]}


def figure(asked: Asked) -> PlotlyFigure:
    return draw_curves(curves_data(asked.view, asked.x, asked.y), asked.revision)


def controls(view: View) -> list[Control]:
    return [metric_control(view, measured(view)), Control("x", "show", "choice", WHICH, "best")]


FIGURE = Figure(
    "learning-curves",
    "Learning curves",
    "any metric (y) over epochs, per arm: its best configuration or all (x)",
    "curves",
    (),
    figure,
    controls,
)
