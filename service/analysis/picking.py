"""One point of many: by weights, at the knee, within bounds, or at the largest gap. Chosen by what chooses (judged)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from service.analysis.fronts import Axis, Point

AUGMENTED = 1e-6  # of the sum, which decides between points that are equally far in their worst objective


class Bound(NamedTuple):
    """What a metric, an axis of the points, must at least or at most be."""

    axis: int
    least: bool  # at least, else at most
    value: float

    def holds(self, value: float) -> bool:
        return value >= self.value if self.least else value <= self.value


def shares(points: Sequence[Point], axes: Sequence[Axis]) -> np.ndarray[Any, Any]:
    """Each objective from its best value among the points, 0, to its worst, 1; 0 where all are equal. [N, d]"""
    signs = np.array([1.0 if axis.goal == "minimize" else -1.0 for axis in axes])
    values = np.array([point.judged or point.values for point in points], dtype=float) * signs
    span = np.ptp(values, axis=0)
    return np.asarray((values - values.min(axis=0)) / np.where(span > 0, span, 1.0))


def knee(front: Sequence[Point], axes: Sequence[Axis]) -> Point:
    """The point that bulges furthest from the plane through the front's ends (Das 1999): argmin Σ z_i of shares z."""
    return front[int(np.argmin(shares(front, axes).sum(axis=1)))]


def weighted(front: Sequence[Point], axes: Sequence[Axis], weights: Sequence[float]) -> Point:
    """argmin max_i w_i z_i + ε Σ w_i z_i (Steuer and Choo 1983), which also finds points where the front is concave."""
    distance = shares(front, axes) * np.array(weights)
    return front[int(np.argmin(distance.max(axis=1) + AUGMENTED * distance.sum(axis=1)))]


def within(points: Sequence[Point], bounds: Sequence[Bound]) -> list[Point]:
    """Those that keep every bound."""
    return [p for p in points if all(bound.holds((p.judged or p.values)[bound.axis]) for bound in bounds)]


def best(points: Sequence[Point], axis: int, goal: str) -> Point:
    """By one axis."""
    sign = 1.0 if goal == "minimize" else -1.0
    return min(points, key=lambda point: sign * (point.judged or point.values)[axis])


def gap(front: Sequence[Point], axes: Sequence[Axis]) -> Point | None:
    """The point whose neighbours lie furthest apart: the largest crowding distance (Deb et al. 2002).

    The ends of an objective have no neighbour on one side, so they are not asked; none where only ends are there.
    """
    z = shares(front, axes)
    crowding = np.zeros(len(front))
    for i in range(z.shape[1]):
        order = np.argsort(z[:, i], kind="stable")
        sorted_z = z[order, i]
        crowding[order[1:-1]] += sorted_z[2:] - sorted_z[:-2]
        crowding[order[[0, -1]]] = -np.inf
    chosen = int(np.argmax(crowding))
    return front[chosen] if np.isfinite(crowding[chosen]) else None
