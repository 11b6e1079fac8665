"""The gaps of a front in two objectives: the same rule for a search that fills them and for what shows them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import dist
from typing import NamedTuple

Point = tuple[float, float]  # both to be minimised


class Gap(NamedTuple):
    """Two neighbours on a front, by their numbers among the points, and how far apart they lie in the unit square."""

    first: int
    second: int
    size: float


def non_dominated(points: Sequence[Point]) -> list[int]:
    """Numbers of the points that no other one dominates, along the front; of equal points the first."""
    front: list[int] = []
    for i in sorted(range(len(points)), key=lambda i: (points[i], i)):
        if not front or points[i][1] < points[front[-1]][1]:
            front.append(i)
    return front


class Square(NamedTuple):
    """The rectangle that becomes the unit square."""

    low: Point
    width: float
    height: float

    def at(self, point: Point) -> Point:
        return (point[0] - self.low[0]) / self.width, (point[1] - self.low[1]) / self.height


def unit_square(points: Sequence[Point]) -> Square:
    """The ranges of the objectives over the front of these points, or over all where the front is one of them."""
    front = non_dominated(points)
    of = [points[i] for i in front] if len(front) > 1 else points
    x, y = [point[0] for point in of], [point[1] for point in of]
    return Square((min(x), min(y)), max(x) - min(x) or 1.0, max(y) - min(y) or 1.0)


def gaps(points: Sequence[Point]) -> list[Gap]:
    """Of the front of these points, along it: Euclidean distances between neighbours in the unit square."""
    front = non_dominated(points)
    if not front:
        return []
    square = unit_square(points)
    return [Gap(a, b, dist(square.at(points[a]), square.at(points[b]))) for a, b in pairwise(front)]
