"""Gradients: how those of the terms lie to each other over training, and how much longer one is than another."""

from __future__ import annotations

import math
from typing import NamedTuple

from service.analysis.watched import gradients_words, log_ratio
from service.contract.metrics import COSINE_MEAN, Kind, described, of_kind
from service.contract.wire.plotly import PlotlyFigure
from service.figures.drawing.choices import one_of
from service.figures.drawing.over_epochs import (
    MOST_PLOTS,
    ArmPaths,
    Band,
    PathsData,
    paths_data,
    spread_words,
    within_bounds,
)
from service.figures.drawing.small_plots import axis_number, draw_paths
from service.figures.drawing.style import short
from service.figures.figure import Asked, Control, Figure
from service.views.view import View

BOTH, COSINES, LENGTHS = "both", "cosines", "lengths"
SHOWN = [(BOTH, "cosines and lengths"), (COSINES, "cosines"), (LENGTHS, "lengths")]
LEAST_COSINES = 3  # that stay beside the lengths where there are too many of both


class GradientsData(NamedTuple):
    """Plots of cosines, then of ratios of lengths, each with its heading."""

    paths: PathsData
    names: dict[str, str]
    ratios: list[str]
    finding: str


def _cosines(view: View) -> list[str]:
    """Of all pairs together first, then pair by pair."""
    return sorted(of_kind(view.metrics, Kind.COSINE), key=lambda name: name != COSINE_MEAN)


def _ratios(view: View) -> dict[str, tuple[str, str]]:
    """Each term after the main one, against it, in the arms that are watched."""
    study = view.study
    watched = [arm.problem.terms for arm in study.arms if study.evaluation.watches(arm.weighting)]
    return {f"length of {term} / {terms[0]}": (term, terms[0]) for terms in watched for term in terms[1:]}


def _from_logarithms(arm: ArmPaths) -> ArmPaths:
    """Means of logarithms are geometric means of ratios, and their interval ends above 0."""

    def raised(band: Band) -> Band:
        low, high = ([None if end is None else short(math.exp(end)) for end in ends] for ends in (band.low, band.high))
        return band._replace(middle=[short(math.exp(middle)) for middle in band.middle], low=low, high=high)

    return arm._replace(bands={name: raised(band) for name, band in arm.bands.items()})


def gradients_data(view: View, show: str | None = None) -> GradientsData:
    cosines, ratios = _cosines(view), _ratios(view)
    which = one_of(show, SHOWN, "y", BOTH)
    left = [] if which == LENGTHS else cosines
    right = [] if which == COSINES else list(ratios)
    shown = left[: max(LEAST_COSINES, MOST_PLOTS - len(right))]
    beside = right[: MOST_PLOTS - len(shown)]
    angles = within_bounds(paths_data(view, shown))
    lengths = paths_data(view, beside, lambda trial, name: log_ratio(trial, *ratios[name]))
    arms = [
        one._replace(bands=one.bands | _from_logarithms(other).bands)
        for one, other in zip(angles.arms, lengths.arms, strict=True)
    ]
    plots = [*angles.metrics, *lengths.metrics]
    names = {name: described(name).label for name in angles.metrics} | {name: name for name in lengths.metrics}
    paths = PathsData(plots, len(left) + len(right) - len(plots), arms)
    return GradientsData(paths, names, lengths.metrics, gradients_words(view) or "")


def draw_gradients(data: GradientsData, revision: str) -> PlotlyFigure:
    paths, shown = data.paths, len(data.paths.metrics)
    parts = ["−1 opposed, 0 orthogonal, 1 the same direction", spread_words(paths)]
    if paths.left_out:
        parts.append(f"first {shown} of {shown + paths.left_out} plots")
    titles = {name: "ratio" if name in data.ratios else "cosine" for name in ("", *paths.metrics)}
    drawn = draw_paths(paths, data.names, titles, " · ".join(filter(None, parts)), revision, data.ratios)
    for place in range(shown - len(data.ratios)):  # below 0 gradients conflict
        drawn["layout"][f"yaxis{axis_number(place)}"] |= {"zeroline": True, "zerolinewidth": 2}
    if data.finding:
        drawn["layout"]["meta"]["finding"] = data.finding
    return drawn


def figure(asked: Asked) -> PlotlyFigure:
    return draw_gradients(gradients_data(asked.view, asked.y), asked.revision)


def controls(view: View) -> list[Control]:
    """Which plots; nothing to choose where all of them fit."""
    if len(_cosines(view)) + len(_ratios(view)) <= MOST_PLOTS:
        return []
    return [Control("y", "show", "choice", SHOWN, BOTH)]


FIGURE = Figure(
    "gradients",
    "Gradients",
    "the cosine between the gradients of each two terms over epochs, and how many times as long one is as the main "
    "term's, per arm with its spread over seeds",
    "weights",
    (Kind.COSINE,),
    figure,
    controls,
)
