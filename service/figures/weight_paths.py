"""Weight paths: what each term weighed over training, per arm, with the spread over its seeds."""

from __future__ import annotations

from typing import Any

from service.figures.over_epochs import PathsData, paths_data, spread_words
from service.figures.small_plots import draw_paths
from service.store.views import StudyView

METRICS = r"weight_.+"


def weights_data(view: StudyView) -> PathsData:
    return paths_data(view, METRICS)


def figure(view: StudyView, x: str | None, y: str | None) -> dict[str, Any]:
    data = weights_data(view)
    names = {metric: metric.removeprefix("weight_") for metric in data.metrics}
    parts = [spread_words(data)]
    if data.left_out:
        parts.append(f"first {len(data.metrics)} of {len(data.metrics) + data.left_out} terms")
    return draw_paths(data, names, "weight", " · ".join(filter(None, parts)), view.id)
