"""Points of several objectives in an order, the best first: by non-dominated rank, and spread out within a rank.

The order of MO-ASHA with an ε-net (Schmucker et al. 2021; the net of Salinas et al. 2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Placed(NamedTuple):
    """A point by its number, and which front it is on: 1 is dominated by none, 2 by none but those, …"""

    number: int
    rank: int | None  # none: it has no values, and comes last


def best_first(points: Sequence[Sequence[float] | None]) -> list[Placed]:
    """Less is better on every axis. Equal input has an equal order: what is tied stays as it was given."""
    known = [i for i, point in enumerate(points) if point is not None]
    last = [Placed(i, None) for i, point in enumerate(points) if point is None]
    if not known:
        return last
    values = np.array([points[i] for i in known], dtype=float)  # [N, d]
    ranks = ranks_of(values)
    return [Placed(known[i], int(ranks[i])) for i in spread_out(_scaled(values), ranks)] + last


def ranks_of(values: Array) -> Array:
    """By peeling: the non-dominated of [N, d] have rank 1, those of the rest rank 2, … [N]"""
    no_worse, better = values[:, None] <= values[None], values[:, None] < values[None]  # [N, N, d]
    dominates: Array = np.all(no_worse, axis=-1) & np.any(better, axis=-1)  # [i, j]
    ranks = np.zeros(len(values), dtype=int)
    rank = 0
    while len(left := np.flatnonzero(ranks == 0)):
        rank += 1
        ranks[left[~dominates[np.ix_(left, left)].any(0)]] = rank
    return ranks


def spread_out(values: Array, ranks: Array) -> list[int]:
    """Rank after rank, each time the point that is farthest from all before it; at first the best on the first axis."""
    order: list[int] = []
    nearest = np.full(len(values), np.inf)  # distance to what was taken
    for rank in range(1, int(ranks.max()) + 1):
        left = [int(i) for i in np.flatnonzero(ranks == rank)]
        while left:
            pick = max(left, key=lambda i: nearest[i]) if order else min(left, key=lambda i: values[i, 0])
            left.remove(pick)
            order.append(pick)
            nearest = np.minimum(nearest, np.linalg.norm(values - values[pick], axis=1))
    return order


def _scaled(values: Array) -> Array:
    """Each axis from 0 to 1, so that distance does not depend on units; one that does not vary says nothing."""
    low, span = values.min(0), np.ptp(values, axis=0)
    return np.asarray((values - low) / np.where(span > 0, span, 1.0))
