"""Which setting of a grid a place between two of its points amounts to."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from service.analysis.intervals import mean_interval

Settings = Mapping[str, object]  # as `weighting.beta`

LOG_RATIO = 10.0  # two values so far apart were meant as powers


class Amount(NamedTuple):
    """A setting, mean over seeds, with the ends of its 95 % interval; of powers both are taken in the logarithm."""

    mean: float
    half_width: float | None  # of its decimal logarithm where it is a power
    seeds: int
    lower: float | None
    upper: float | None
    log: bool


def numbers_of(settings: Settings, keys: Collection[str]) -> dict[str, float]:
    """Those of the keys that have a number."""
    own = {key: settings[key] for key in keys if key in settings}
    return {key: float(v) for key, v in own.items() if isinstance(v, (int, float)) and not isinstance(v, bool)}


def _unevenness(values: Sequence[float]) -> float:
    gaps = np.diff(values)
    return float(np.std(gaps) / np.mean(gaps))


def is_log(values: Iterable[float]) -> bool:
    """Whether their ratios are more even than their differences."""
    known = sorted(set(values))
    if len(known) < 2 or known[0] <= 0:
        return False
    if len(known) == 2:
        return known[1] / known[0] >= LOG_RATIO
    return _unevenness([math.log(value) for value in known]) < _unevenness(known)


def mean_of(values: Sequence[float], log: bool, weights: Sequence[float] | None = None) -> float:
    """The weighted mean; of powers the geometric one."""
    if log:
        return float(np.exp(np.average(np.log(values), weights=weights)))
    return float(np.average(values, weights=weights))


def amount_over_seeds(values: Sequence[float], log: bool) -> Amount:
    """Of each seed's value; of powers the geometric mean, whose interval is as many times smaller as it is larger."""
    scaled = mean_interval(np.log10(values).tolist() if log else values)
    half = scaled.half_width
    mean = mean_of(values, log)
    if half is None:
        return Amount(mean, None, scaled.seeds, None, None, log)
    lower, upper = (mean / 10**half, mean * 10**half) if log else (mean - half, mean + half)
    return Amount(mean, half, scaled.seeds, lower, upper, log)
