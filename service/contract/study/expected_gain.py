"""What one more batch of an arm's trials would gain, by the arm's own hypervolume curve: when it is enough.

With H_s(k) the hypervolume of seed s after batch k, g_s(k) = H_s(k) − H_s(k−1) and H̄ the mean over seeds of H_s(K),
the next batch K + 1 is expected to gain ĝ = mean over s and over k in W of k·g_s(k) / ((K + 1)·H̄). That is exact where
gains fall as 1/k. A bounded curve's fall faster in the end, and then ĝ is too large: the search goes on for longer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import fmean, stdev
from typing import NamedTuple

from service.contract.study.study import Objective

LEAST_BATCHES = 3  # before which a curve says nothing about where it goes
LEAST_VALUES = 3  # of an interval: Student's t of two is 12.7
CONFIDENCE = 0.95
NORMAL = 1000  # degrees of freedom from which on Student's t is the normal one, to three digits

MARGIN = 0.1  # of the values' range, from the worst to where the hypervolume of a metric without a reference begins

Curve = list[float]  # H after the first batch, the second, …; of one seed
Values = Sequence[float] | None  # of a trial's objectives; none where it failed, collapsed or lacks one
Volume = Callable[[list[list[float]], list[float]], float]  # of points to a corner, less being better on all axes


class Gain(NamedTuple):
    """Of one more batch, as a share of the hypervolume there is: expected, and the upper end of its 95 % interval."""

    mean: float
    upper: float


def expected_gain(curves: Sequence[Curve]) -> Gain | None:
    """By curves of equal length, one per seed; none where they are too short or have no hypervolume.

    W is the later half of the batches, and reaches back to the last one that gained anything: what has not happened
    lately may still happen. The half width is the larger of Student's over the seeds' means, from three seeds on, and
    over all values in W: with fewer seeds the spread of past gains is all there is.
    """
    batches = len(curves[0]) if curves else 0
    volume = fmean(curve[-1] for curve in curves) if batches >= LEAST_BATCHES else 0.0
    if volume <= 0:
        return None
    scaled = [
        [k * (now - before) / ((batches + 1) * volume) for k, (before, now) in enumerate(_steps(curve), 1)]
        for curve in curves
    ]  # [S, K]
    last = max((k for own in scaled for k, value in enumerate(own) if value > 0), default=0)
    window = [own[min(batches // 2, last) :] for own in scaled]  # [S, |W|]
    values = [value for own in window for value in own]
    if len(values) < LEAST_VALUES:
        return None
    half = _half_width(values)
    if len(curves) >= LEAST_VALUES:
        half = max(half, _half_width([fmean(own) for own in window]))
    return Gain(fmean(values), fmean(values) + half)


def enough(gains: Sequence[Gain | None], gain: float, patience: int) -> int | None:
    """The first batch at which the upper end was below `gain` so many times in a row; none while it is not enough.

    `gains` are those expected after the first batch, the second, …
    """
    below = 0
    for batch, expected in enumerate(gains, 1):
        below = below + 1 if expected is not None and expected.upper < gain else 0
        if below >= patience:
            return batch
    return None


def volume_curves(
    seeds: Sequence[Sequence[Sequence[Values]]], objectives: Sequence[Objective], volume: Volume
) -> list[Curve]:
    """The curve of each seed, from the values of its batches' trials; a seed with fewer batches stays where it is."""
    signs = [1.0 if objective.goal == "minimize" else -1.0 for objective in objectives]
    turned = [
        [[[s * v for s, v in zip(signs, own, strict=True)] for own in batch if own is not None] for batch in batches]
        for batches in seeds
    ]  # [S, K, b, d]
    points = [point for batches in turned for batch in batches for point in batch]
    most = max(map(len, seeds), default=0)
    if not points:
        return [[0.0] * most for _ in seeds]
    corner = [_reference(points, i, objective, signs[i]) for i, objective in enumerate(objectives)]
    return [_curve(batches, most, corner, volume) for batches in turned]


def _curve(batches: list[list[list[float]]], most: int, corner: list[float], volume: Volume) -> Curve:
    curve, so_far = [], list[list[float]]()
    for k in range(most):
        so_far = so_far + (batches[k] if k < len(batches) else [])
        curve.append(volume(so_far, corner) if so_far else 0.0)
    return curve


def _reference(points: list[list[float]], i: int, objective: Objective, sign: float) -> float:
    """That of the objective; of a metric of the study's own code, which may have none, beyond its worst value."""
    if objective.reference_value is not None:
        return sign * objective.reference_value
    values = [point[i] for point in points]
    return max(values) + MARGIN * (max(values) - min(values))


def least_batches(patience: int) -> int:
    """An arm with fewer than this has none left when it could first be enough."""
    return LEAST_BATCHES + patience


def _steps(curve: Curve) -> list[tuple[float, float]]:
    return list(zip([0.0, *curve], curve, strict=False))


def _half_width(values: Sequence[float]) -> float:
    return student(len(values) - 1) * stdev(values) / math.sqrt(len(values))


@lru_cache(maxsize=NORMAL)
def student(freedom: int) -> float:
    """The 97.5 % quantile of Student's t, by bisection."""
    low, high = 1.0, 13.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, min(freedom, NORMAL)) < CONFIDENCE else (low, middle)
    return high


def _within(t: float, freedom: int) -> float:
    """P(|T| < t) for whole degrees of freedom (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for i in range(1, freedom // 2 + 1):
        total += term
        term *= math.cos(angle) ** 2 * (2 * i / (2 * i + 1) if odd else (2 * i - 1) / (2 * i))
    return (2 / math.pi * (angle + math.sin(angle) * total)) if odd else math.sin(angle) * total
