"""Balance: how far the hidden units of each layer are from balance over epochs, per arm."""

from __future__ import annotations

from typing import Any

from service.figures.figure import Asked, Figure
from service.figures.over_epochs import PathsData, paths_data, spread_words
from service.figures.small_plots import draw_paths
from service.store.views import StudyView

METRICS = r"balance_.+"


def balance_data(view: StudyView) -> PathsData:
    return paths_data(view, METRICS)


def figure(asked: Asked) -> dict[str, Any]:
    data = balance_data(asked.view)
    names = {metric: metric.removeprefix("balance_") for metric in data.metrics}
    parts = ["|ln OUT/IN| of each layer's worst unit, 0 is balanced", spread_words(data)]
    if data.left_out:
        parts.append(f"first {len(data.metrics)} of {len(data.metrics) + data.left_out} layers")
    return draw_paths(data, names, "imbalance", " · ".join(filter(None, parts)), asked.revision)


FIGURE = Figure(
    "balance",
    "Balance",
    "the balance ratio of each layer over epochs, |ln OUT/IN| of its worst unit, with its spread over seeds",
    "weights",
    (METRICS,),
    figure,
)
