"""Interpolation that never overshoots: cubic Hermite pieces with harmonic slopes (Fritsch & Butland 1984)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

HALVINGS = 50


class Monotone:
    """A non-decreasing function through (x_i, y_i), x increasing; it is non-decreasing between them, too."""

    def __init__(self, x: Sequence[float], y: Sequence[float]) -> None:
        self._x, self._y = list(x), list(y)
        h = [b - a for a, b in pairwise(x)]
        secants = [(d - c) / w for c, d, w in zip(y, y[1:], h, strict=False)]
        inner = [_harmonic(*pieces) for pieces in zip(secants, secants[1:], h, h[1:], strict=False)]
        self._slopes = [secants[0], *inner, secants[-1]]

    def __call__(self, x: float) -> float:
        i = min(max(bisect_right(self._x, x) - 1, 0), len(self._x) - 2)
        h = self._x[i + 1] - self._x[i]
        s = (x - self._x[i]) / h
        rise, m, n = self._y[i + 1] - self._y[i], self._slopes[i] * h, self._slopes[i + 1] * h
        return self._y[i] + s * (m + s * (3 * rise - 2 * m - n + s * (m + n - 2 * rise)))

    def has(self, x: float) -> bool:
        """Whether it is one of its own x."""
        return x in self._x

    def where(self, low: float, high: float, share: float) -> float:
        """The x between `low` and `high` at which it has risen by this share of its rise there."""
        wanted = (1 - share) * self(low) + share * self(high)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self(middle) < wanted else (low, middle)
        return (low + high) / 2


def _harmonic(before: float, after: float, h: float, k: float) -> float:
    """Slope at a knot: the weighted harmonic mean of the secants on both sides, 0 where one of them is."""
    if before <= 0 or after <= 0:
        return 0.0
    a, b = 2 * k + h, k + 2 * h
    return (a + b) / (a / before + b / after)
