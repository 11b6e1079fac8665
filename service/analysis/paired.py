"""Two arms on the same seeds: the paired difference, its test, its size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from service.analysis.intervals import LEAST_SEEDS, Interval, mean_interval

LEVEL = 0.05


class Paired(NamedTuple):
    """Arm minus baseline over the seeds both have; no test below three, or where all differences are the same."""

    ratio: Interval  # of the means, with the difference's interval as a share of the baseline's mean
    difference: Interval
    p_value: float | None  # two-sided paired t-test
    effect_size: float | None  # Hedges' g of the differences


def paired(arm: Mapping[int, float], baseline: Mapping[int, float]) -> Paired:
    """Values by seed. g = (1 − 3/(4(n − 1) − 1))·mean/sd (Hedges 1981), t = √n·mean/sd."""
    seeds = [seed for seed in arm if seed in baseline]
    differences = [_difference(arm[seed], baseline[seed]) for seed in seeds]
    difference = mean_interval(differences)
    untested = Paired(_ratio(difference, [baseline[seed] for seed in seeds]), difference, None, None)
    n = len(differences)
    if n < LEAST_SEEDS:
        return untested
    spread = float(np.std(differences, ddof=1))
    if spread <= 1e-12 * max(abs(d) for d in differences):  # equal but for rounding
        return untested
    from scipy.special import stdtr  # half a second to import, only comparisons need it

    size = float(np.mean(differences)) / spread
    p_value = float(2 * stdtr(n - 1, -abs(size) * math.sqrt(n)))
    return untested._replace(p_value=p_value, effect_size=(1 - 3 / (4 * (n - 1) - 1)) * size)


def _ratio(difference: Interval, baseline: Sequence[float]) -> Interval:
    """Not the mean of ratios: one seed whose baseline is nearly nothing would decide it.

    None where its interval is wider than itself: 126 % ± 632 is no share of anything.
    """
    base = float(np.mean(baseline)) if len(baseline) else 0.0
    mean, half, seeds = difference[:3]
    if mean is None or base <= 0 or (half is not None and half > base + mean):
        return Interval(None, None, seeds)
    return Interval(1 + mean / base, None if half is None else half / base, seeds)


def _difference(own: float, other: float) -> float:
    """Nothing where only rounding differs."""
    return 0.0 if math.isclose(own, other, rel_tol=1e-12) else own - other


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjusted for as many tests as there are (Holm 1979): p_(i)·(m − i) in rising order, never falling, at most 1."""
    known = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, i) in enumerate(known):
        largest = max(largest, min(1.0, p * (len(known) - rank)))
        adjusted[i] = largest
    return adjusted
