"""A point against a front of which a few points are known.

Between two neighbours the front is not known: the step, what they dominate, is its pessimistic reading, the straight
line its optimistic one. Both end at the outermost points; beyond those nothing is known. Two axes, on both of which
less is better, each in its own unit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

TOLERANCE = 0.02  # of the objectives' ranges: as near as this is on the front


class Reading(NamedTuple):
    """By how much a point is better than the front, by either reading; below 0: worse."""

    step: float
    line: float


def front_order(points: Array) -> Array:
    """Indices of the non-dominated among points [N, 2], each once, along the first axis."""
    order = np.lexsort((points[:, 1], points[:, 0]))
    y = points[order, 1]
    least = np.concatenate([[np.inf], np.minimum.accumulate(y)[:-1]])  # of those before
    return np.asarray(order[y < least])


def pooled(points: Array) -> list[list[int]]:
    """Points [N, 2] in groups along the first axis, whose means fall on the second: adjacent violators are pooled.

    The claimed values of points that another split chose may dominate each other. To drop those that lost would choose
    once more, by what is claimed; their means do not (isotonic regression). Points of a front stay by themselves.
    """
    groups: list[list[int]] = []
    for i in np.lexsort((points[:, 1], points[:, 0])).tolist():
        group = [i]
        while groups and points[group, 1].mean() >= points[groups[-1], 1].mean():
            group = groups.pop() + group
        groups.append(group)
    return groups


def steps(front: Array) -> Array:
    """The corners of the step through a front [F, 2]: along the first axis, then along the second. [2F − 1, 2]"""
    corners = np.column_stack([front[1:, 0], front[:-1, 1]])
    walked = np.empty((2 * len(front) - 1, 2))
    walked[::2], walked[1::2] = front, corners
    return walked


def nearest(path: Array, z: Array) -> tuple[int, float, float]:
    """Where on a path [P, 2] the point nearest to z lies, as segment and share of it, and how far away that is."""
    if len(path) == 1:
        return 0, 0.0, float(np.linalg.norm(z - path[0]))
    start, along = path[:-1], np.diff(path, axis=0)
    share = np.clip(((z - start) * along).sum(1) / (along**2).sum(1), 0.0, 1.0)  # [P − 1]
    away = np.linalg.norm(start + share[:, None] * along - z, axis=1)
    segment = int(np.argmin(away))
    return segment, float(share[segment]), float(away[segment])


def is_past_an_end(front: Array, z: Array) -> bool:
    """Better than the whole front on one axis and worse on the other."""
    low, high = front.min(0), front.max(0)
    return bool((z[0] < low[0] and z[1] > high[1]) or (z[1] < low[1] and z[0] > high[0]))


def is_beyond(front: Array, z: Array) -> bool:
    """Past an end of the front by more than the tolerance: the front does not reach there."""
    return is_past_an_end(front, z) and nearest(front, z)[2] > TOLERANCE


def is_dominated(front: Array, z: Array) -> bool:
    """For any number of axes: a point of the front [F, d] is nowhere worse and somewhere better."""
    return bool(((front <= z).all(1) & (front < z).any(1)).any())


def distance(front: Array, z: Array) -> Reading:
    """Signed Euclidean distance to the front [F, 2].

    Past an end the front is not known either: as far as z lies from it, z is better by the step and worse by the line.
    Noise puts an arm at the end past it in some seeds and behind or before it in others: all must count, and as much.
    """
    under_step = bool((front <= z).all(1).any())
    under_line = z[0] >= front[0, 0] and z[1] >= np.interp(z[0], front[:, 0], front[:, 1])
    step, line = nearest(steps(front), z)[2], nearest(front, z)[2]
    if is_past_an_end(front, z):
        return Reading(step, -step)
    return Reading(-step if under_step else step, -line if under_line else line)


def gap(front: Array, z: Array, axis: int) -> Reading | None:
    """What z is better by on an axis than the front is at z's value of the other one; none outside its range."""
    other = 1 - axis
    known, own = front[:, other], z[other]
    if not known.min() <= own <= known.max():
        return None
    order = np.argsort(known)
    line = np.interp(own, known[order], front[order, axis])
    step = front[known <= own, axis].min()
    return Reading(float(step - z[axis]), float(line - z[axis]))


def gap_to_curve(curve: Array, z: Array, axis: int) -> float | None:
    """The same against a front that is known everywhere [P, 2]: what is worse than its worst has its end to match."""
    other = 1 - axis
    order = np.argsort(curve[:, other])
    known, own = curve[order, other], z[other]
    return None if own < known[0] else float(np.interp(own, known, curve[order, axis]) - z[axis])
