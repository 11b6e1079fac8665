"""Empirical attainment: which part of the objective space how many seeds of an arm reach (moocore)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import moocore
import numpy as np

from service.analysis.fronts import Axis, Point, nondominated

LEVELS = (25, 50, 75)
BEYOND = 0.05  # of the points' span: how far the box goes on behind the worst of them

Place = tuple[float, float]


class Rectangle(NamedTuple):
    """Part of the objective space that the first arm attains in so many seeds more than the second."""

    corner: Place  # the better one of both objectives
    opposite: Place
    seeds: int


def _signs(axes: Sequence[Axis]) -> np.ndarray[Any, Any]:
    """Less is better once multiplied by these. [2]"""
    return np.array([1.0 if axis.goal == "minimize" else -1.0 for axis in axes])


def _table(sets: Mapping[int, Sequence[Point]], axes: Sequence[Axis]) -> np.ndarray[Any, Any]:
    """Rows (x, y, seed), less is better; a seed without a point has one that attains nothing. [N, 3]"""
    rows = []
    for number, points in enumerate(sets.values()):
        values = np.array([point.values for point in nondominated(points, axes)]).reshape(-1, 2) * _signs(axes)
        front = values[moocore.is_nondominated(values)] if len(values) else np.full((1, 2), math.inf)
        rows.append(np.column_stack([front, np.full(len(front), float(number))]))
    return np.concatenate(rows) if rows else np.empty((0, 3))


def surfaces(sets: Mapping[int, Sequence[Point]], axes: Sequence[Axis]) -> dict[int, list[Place]]:
    """Per level p the front of what at least p % of the seeds attain, sorted along x; one seed: its front at 50.

    The attainment function at z is the share of seeds that have a point at least as good as z in both objectives
    (Grunert da Fonseca et al. 2001); points of a seed are keyed by it.
    """
    table = _table(sets, axes)
    if not len(table):
        return {}
    levels = LEVELS if len(sets) > 1 else (50,)
    attained = moocore.eaf(table[:, :2], table[:, 2], percentiles=levels)
    return {
        level: sorted(
            (float(x), float(y)) for x, y in attained[attained[:, 2] == level][:, :2] * _signs(axes) if np.isfinite(x)
        )
        for level in levels
    }


def worst_corner(points: Sequence[Point], axes: Sequence[Axis]) -> Place:
    """Where the box ends on the bad side of both objectives: beyond the worst point, which attains something too."""

    def end(values: Sequence[float], goal: str) -> float:
        room = BEYOND * ((max(values) - min(values)) or abs(values[0]) or 1.0)
        return max(values) + room if goal == "minimize" else min(values) - room

    x, y = (end([point.values[i] for point in points], axis.goal) for i, axis in enumerate(axes))
    return x, y


def staircase(front: Sequence[Place], axes: Sequence[Axis], worst: Place) -> list[Place]:
    """The border of what a front attains as a line with corners, from one edge of the box to the other."""
    ordered = sorted(front, reverse=axes[0].goal == "maximize")
    if not ordered:
        return []
    line = [(ordered[0][0], worst[1])]
    for place, after in zip(ordered, [*ordered[1:], worst], strict=True):
        line += [place, (after[0], place[1])]
    return line


def _counts(table: np.ndarray[Any, Any], xs: np.ndarray[Any, Any], ys: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """In how many seeds each place of a grid is attained: where the best y up to its x is no more than its y. [X, Y]"""
    count = np.zeros((len(xs), len(ys)), dtype=int)
    for seed in np.unique(table[:, 2]):
        own = table[table[:, 2] == seed]
        best = np.where(own[:, 0] <= xs[:, None], own[:, 1], math.inf).min(axis=1)  # [X]
        count += best[:, None] <= ys
    return count


def difference(
    first: Mapping[int, Sequence[Point]], second: Mapping[int, Sequence[Point]], axes: Sequence[Axis], worst: Place
) -> list[Rectangle]:
    """Where two arms attain in a different number of seeds, as rectangles within the box; both have the same seeds.

    Attainment changes only at values of the points, so it is counted on their grid; neighbours of the same count
    along y are one rectangle, which goes on along x as long as it stays the same.
    """
    one, two, signs = _table(first, axes), _table(second, axes), _signs(axes)
    ends = np.array(worst) * signs
    both = np.concatenate([one, two])
    xs, ys = (np.unique(both[both[:, i] < ends[i], i]) for i in (0, 1))
    edges_x, edges_y = [*xs, ends[0]], [*ys, ends[1]]
    rectangles: list[Rectangle] = []
    begun: dict[tuple[int, int, int], int] = {}  # runs (from, to, seeds) along y of the column before, since which x
    columns = [_runs(column) for column in _counts(one, xs, ys) - _counts(two, xs, ys)]
    for i, runs in enumerate([*columns, set()]):
        for j, k, seeds in sorted(begun.keys() - runs):
            sides = edges_x[begun.pop((j, k, seeds))], edges_y[j], edges_x[i], edges_y[k]
            x0, y0, x1, y1 = np.array(sides) * np.tile(signs, 2)
            rectangles.append(Rectangle((float(x0), float(y0)), (float(x1), float(y1)), seeds))
        begun |= dict.fromkeys(runs - begun.keys(), i)
    return rectangles


def _runs(column: np.ndarray[Any, Any]) -> set[tuple[int, int, int]]:
    """Neighbours of the same count other than 0: first place, place after the last, count."""
    starts = [j for j, seeds in enumerate(column) if j == 0 or seeds != column[j - 1]]
    return {(j, k, int(column[j])) for j, k in zip(starts, [*starts[1:], len(column)], strict=False) if column[j]}
