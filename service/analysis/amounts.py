"""Which setting of a grid a place between two of its points amounts to."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

Settings = Mapping[str, object]  # as `weighting.beta`

LOG_RATIO = 10.0  # two values so far apart were meant as powers


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
