"""Spearman's rank correlation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from service.analysis.readings import Array

LEAST_PAIRS = 3  # two points always lie on a line


class RankCorrelation(NamedTuple):
    """ρ, none of fewer than three pairs or where one side does not vary; and of how many pairs it is."""

    rho: float | None
    n: int


def _ranks(values: Sequence[float]) -> Array:
    """1 for the least; equal values share the mean of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[place])


def spearman(pairs: Sequence[tuple[float, float]]) -> RankCorrelation:
    """Pearson's correlation of the ranks."""
    n = len(pairs)
    if n < LEAST_PAIRS:
        return RankCorrelation(None, n)
    x, y = (_ranks([pair[side] for pair in pairs]) for side in (0, 1))
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return RankCorrelation(None, n)
    return RankCorrelation(float(np.corrcoef(x, y)[0, 1]), n)
