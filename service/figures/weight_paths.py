"""Weight paths: what each term weighed over training, per arm, with the spread over its seeds."""

from __future__ import annotations

from typing import Any

from service.figures.figure import Asked, Figure
from service.figures.over_epochs import PathsData, paths_data, spread_words
from service.figures.small_plots import draw_paths
from service.store.views import StudyView

METRICS = r"weight_.+"


def weights_data(view: StudyView) -> PathsData:
    return paths_data(view, METRICS)


def figure(asked: Asked) -> dict[str, Any]:
    data = weights_data(asked.view)
    names = {metric: metric.removeprefix("weight_") for metric in data.metrics}
    parts = [spread_words(data)]
    if data.left_out:
        parts.append(f"first {len(data.metrics)} of {len(data.metrics) + data.left_out} terms")
    return draw_paths(data, names, "weight", " · ".join(filter(None, parts)), asked.revision)


FIGURE = Figure(
    "weight-paths",
    "Weight paths",
    "the weight of each term over epochs, per arm with its spread over seeds",
    "weights",
    (METRICS,),
    figure,
)
