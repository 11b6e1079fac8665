"""Weight paths: what each term weighed over training, per arm, with the spread over its seeds."""

from __future__ import annotations

from service.contract.metrics import Kind, described, of_kind
from service.contract.wire.plotly import PlotlyFigure
from service.figures.drawing.over_epochs import PathsData, paths_data, spread_words
from service.figures.drawing.small_plots import draw_paths
from service.figures.figure import Asked, Figure
from service.views.view import View


def weights_data(view: View) -> PathsData:
    return paths_data(view, of_kind(view.metrics, Kind.WEIGHT))


def figure(asked: Asked) -> PlotlyFigure:
    data = weights_data(asked.view)
    names = {metric: described(metric).subject or metric for metric in data.metrics}
    parts = [spread_words(data)]
    if data.left_out:
        parts.append(f"first {len(data.metrics)} of {len(data.metrics) + data.left_out} terms")
    return draw_paths(data, names, "weight", " · ".join(filter(None, parts)), asked.revision)


FIGURE = Figure(
    "weight-paths",
    "Weight paths",
    "the weight of each term over epochs, per arm with its spread over seeds",
    "weights",
    (Kind.WEIGHT,),
    figure,
)
