"""Metrics over epochs: per arm the middle of its trials and how far they spread."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from service.analysis import mean_interval
from service.contract.wording.numbers import plural
from service.figures.drawing.bands import UNBOUNDED, bounds_of, drawn_of_seeds, ends
from service.figures.drawing.style import short
from service.views.selectors import configurations
from service.views.trial import TrialView
from service.views.view import View

MOST_PLOTS = 6
MOST_EPOCHS = 128  # as many as a small plot can show


class Band(NamedTuple):
    """One metric of one arm. `low` and `high` are none where a single trial cannot tell a spread."""

    epochs: list[int]
    middle: list[float]
    low: list[float | None]
    high: list[float | None]
    trials: list[int]


class ArmPaths(NamedTuple):
    name: str
    spread: Literal["interval", "range"]  # mean and 95 % interval over seeds, or median and range over configurations
    trials: int
    bands: dict[str, Band]


class PathsData(NamedTuple):
    metrics: list[str]
    left_out: int
    arms: list[ArmPaths]


def thinned(epochs: Sequence[int]) -> list[int]:
    """At most about MOST_EPOCHS of them; the step doubles, so that what is shown changes rarely as epochs come."""
    step = 1
    while epochs and epochs[-1] > MOST_EPOCHS * step:
        step *= 2
    return [epoch for epoch in epochs if epoch % step == 0 or epoch in (epochs[0], epochs[-1])]


def band_of(paths: Sequence[dict[int, float]], spread: Literal["interval", "range"]) -> Band:
    """Middle and spread at each epoch, over the trials that have a value there."""
    band = Band([], [], [], [], [])
    for epoch in thinned(sorted(set().union(*paths))):
        values = [path[epoch] for path in paths if epoch in path]
        if spread == "interval":
            interval = mean_interval(values)
            middle, (low, high) = interval.mean, ends(interval, UNBOUNDED) or (None, None)
        else:
            middle = statistics.median(values)
            low, high = (None, None) if len(values) == 1 else (min(values), max(values))
        band.epochs.append(epoch)
        band.middle.append(short(middle or 0.0))
        band.low.append(None if low is None else short(low))
        band.high.append(None if high is None else short(high))
        band.trials.append(len(values))
    return band


def paths_data(
    view: View, metrics: Sequence[str], path: Callable[[TrialView, str], dict[int, float]] = TrialView.path
) -> PathsData:
    """These metrics of the study over epochs, the first few of them; a failed trial keeps the path it had.

    `path` reads what is no metric of a trial, but made of some.
    """
    shown = list(metrics[:MOST_PLOTS])
    arms = []
    for arm in view.study.arms:
        groups = [[view.trials[i] for i in ids if view.trials[i].reports] for ids in configurations(view, arm.name)]
        groups = [group for group in groups if group]
        spread: Literal["interval", "range"] = "interval" if len(groups) <= 1 else "range"
        trials = [trial for group in groups for trial in group]
        all_bands = {metric: band_of([path(t, metric) for t in trials], spread) for metric in shown if trials}
        bands = {metric: band for metric, band in all_bands.items() if band.epochs}
        arms.append(ArmPaths(arm.name, spread, len(trials), bands))
    return PathsData(shown, len(metrics) - len(shown), arms)


def within_bounds(data: PathsData) -> PathsData:
    """Intervals no wider than the metric can be."""

    def clipped(metric: str, band: Band) -> Band:
        low, high = bounds_of(metric)
        return band._replace(
            low=[None if end is None else max(low, end) for end in band.low],
            high=[None if end is None else min(high, end) for end in band.high],
        )

    arms = [arm._replace(bands={m: clipped(m, band) for m, band in arm.bands.items()}) for arm in data.arms]
    return data._replace(arms=arms)


def spread_words(data: PathsData) -> str:
    """What line and band mean, arm by arm where that differs."""
    words = []
    seeds = [arm.trials for arm in data.arms if arm.spread == "interval" and arm.trials]
    if seeds:
        words.append(drawn_of_seeds(max(seeds)))
    ranged = [arm for arm in data.arms if arm.spread == "range"]
    if len(ranged) == 1 and seeds:
        words.append(f"{ranged[0].name}: median, range of {plural(ranged[0].trials, 'trial')}")
    elif ranged:
        words.append("median, range of all trials" + (" where an arm has several configurations" if seeds else ""))
    return " · ".join(words)
