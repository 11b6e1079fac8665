"""Means with their uncertainty: over seeds (Student), over test examples (Wilson, normal)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from service.contract.metrics import ERROR, Kind, metric
from service.contract.wording.numbers import spread

Z95 = 1.959964  # standard normal quantile of 97.5 %


LEAST_SEEDS = 3  # of an interval or a test: Student's t of two is 12.7, and ± that says nothing


class Interval(NamedTuple):
    """A mean over seeds with its 95 % half width, none below three seeds; the least and the largest value."""

    mean: float | None
    half_width: float | None
    seeds: int
    low: float | None = None
    high: float | None = None


def mean_interval(values: Sequence[float]) -> Interval:
    """Mean and Student-t 95 % half width; of two seeds the two values, which are the least and the largest."""
    n = len(values)
    if n == 0:
        return Interval(None, None, 0)
    mean, low, high = float(np.mean(values)), float(min(values)), float(max(values))
    if n < LEAST_SEEDS:
        return Interval(mean, None, n, low, high)
    from scipy.special import stdtrit  # scipy takes half a second to import, only comparisons need it

    half_width = float(stdtrit(n - 1, 0.975) * np.std(values, ddof=1) / math.sqrt(n))
    return Interval(mean, half_width, n, low, high)


class Share(NamedTuple):
    """A mean share over seeds with the ends of its 95 % Wilson interval, which lie unevenly about it."""

    mean: float | None
    lower: float | None
    upper: float | None
    seeds: int


def share_interval(shares: Sequence[float]) -> Share:
    """Each seed's share, counted as one yes or no: no variable in [0, 1] spreads more than that at the same mean."""
    n = len(shares)
    if n == 0:
        return Share(None, None, None, 0)
    mean = float(np.mean(shares))
    if n < LEAST_SEEDS:
        return Share(mean, None, None, n)
    lower, upper = wilson(mean, n)
    return Share(mean, lower, upper, n)


def interval_words(interval: Interval) -> str:
    """`0.912 ± 0.011 over 3 seeds`; `0.901 and 0.923, two seeds`."""
    mean, half, seeds, low, high = interval
    if mean is None:
        return ""
    few = {1: ", one seed", 2: ", two seeds"}
    return spread(mean, half, low, high) + few.get(seeds, f" over {seeds} seeds")


def wilson(share: float, count: float) -> tuple[float, float]:
    """95 % interval of a share among `count` images or seeds (Wilson 1927): honest near 0 and 1, where ± is not."""
    z2 = Z95 * Z95
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = Z95 / (1 + z2 / count) * math.sqrt(share * (1 - share) / count + z2 / (4 * count * count))
    # Rounding would leave an end just off the 0 or 1 that it is.
    return 0.0 if share <= 0 else max(0.0, middle - half), 1.0 if share >= 1 else min(1.0, middle + half)


@lru_cache(maxsize=4096)
def _measured_by(name: str) -> tuple[str, str | None] | None:
    """The metrics that hold a metric's standard error and a proportion's examples; asked for thousands of trials."""
    row = metric(name)
    if row is None:
        return None
    return ERROR.of(name), row.examples if row.kind in (Kind.ACCURACY, Kind.ROBUSTNESS) else None


def metric_intervals(metrics: Mapping[str, float | None]) -> dict[str, tuple[float, float]]:
    """95 % intervals of one trial's metrics over test examples, the trained model given; not over trainings."""
    intervals: dict[str, tuple[float, float]] = {}
    for name, value in metrics.items():
        names = _measured_by(name)
        if value is None or names is None:
            continue
        error = metrics.get(names[0])
        count = metrics.get(names[1]) if names[1] else None
        if error is not None:
            intervals[name] = (value - Z95 * error, value + Z95 * error)
        elif count is not None and count >= 1 and 0 <= value <= 1:
            intervals[name] = wilson(value, count)
    return intervals
