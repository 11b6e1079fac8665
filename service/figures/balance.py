"""Balance: how far the hidden units of each layer are from balance over epochs, per arm."""

from __future__ import annotations

from service.contract.metrics import Kind, described, of_kind
from service.contract.wire.plotly import PlotlyFigure
from service.figures.drawing.over_epochs import PathsData, paths_data, spread_words
from service.figures.drawing.small_plots import draw_paths
from service.figures.figure import Asked, Figure
from service.views.view import View


def balance_data(view: View) -> PathsData:
    return paths_data(view, of_kind(view.metrics, Kind.IMBALANCE))


def figure(asked: Asked) -> PlotlyFigure:
    data = balance_data(asked.view)
    names = {metric: described(metric).subject or metric for metric in data.metrics}
    parts = ["|ln OUT/IN| of each layer's worst unit, 0 is balanced", spread_words(data)]
    if data.left_out:
        parts.append(f"first {len(data.metrics)} of {len(data.metrics) + data.left_out} layers")
    return draw_paths(data, names, "imbalance", " · ".join(filter(None, parts)), asked.revision)


FIGURE = Figure(
    "balance",
    "Balance",
    "the balance ratio of each layer over epochs, |ln OUT/IN| of its worst unit, with its spread over seeds",
    "weights",
    (Kind.IMBALANCE,),
    figure,
)
