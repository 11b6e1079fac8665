"""Hypervolume against cost: what an arm had after so many trials, so many seconds of training.

A grid has no order of its own, so its curve is the mean over random orders of its trials; a search has the order in
which its trials ended. A trial that failed or collapsed costs its seconds and adds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from service.analysis.fronts import Axis, Point, hypervolume
from service.analysis.intervals import Interval, mean_interval

ORDERS = 16  # of a grid, at most
STEPS = 16  # places of a curve


class Spent(NamedTuple):
    """A trial that has ended, in the order of ending: what it cost and what it brought, if anything."""

    seed: int
    seconds: float
    points: Sequence[Point]


class CostCurve(NamedTuple):
    """Per seed: after `trials` trials and `seconds` of training, this hypervolume, mean and 95 % over seeds."""

    seconds: list[float]
    trials: list[int]
    mean: list[float]
    low: list[float | None]
    high: list[float | None]


class Reach(NamedTuple):
    """What an arm spends until it has a given hypervolume, over the seeds in which it gets there at all."""

    seconds: Interval
    trials: float | None
    reached: int
    of: int


def by_seed(spent: Sequence[Spent]) -> dict[int, list[Spent]]:
    groups: dict[int, list[Spent]] = {}
    for trial in spent:
        groups.setdefault(trial.seed, []).append(trial)
    return groups


def orders(count: int, ordered: bool) -> list[np.ndarray[Any, Any]]:
    """Orders of the trials: as they ended, or at random but the same each time.

    A random order is taken from several starts, once around: where there are no more trials than orders, each stands at
    each place as often as any other, so that what one trial brings on average does not depend on which ended first.
    """
    if ordered or count == 1:
        return [np.arange(count)]
    random = np.random.default_rng(count)
    starts = [count * i // ORDERS for i in range(ORDERS)] if count > ORDERS else range(count)
    rounds = [random.permutation(count) for _ in range(max(1, ORDERS // count))]
    return [np.roll(each, -start) for each in rounds for start in starts]


def _volume(spent: Sequence[Spent], chosen: np.ndarray[Any, Any], axes: Sequence[Axis]) -> float:
    return hypervolume([point for i in chosen for point in spent[i].points], axes) or 0.0


def cost_curve(spent: Sequence[Spent], axes: Sequence[Axis], ordered: bool) -> CostCurve:
    groups = by_seed(spent)
    most = min((len(group) for group in groups.values()), default=0)  # as far as every seed has come
    curve = CostCurve([], [], [], [], [])
    if any(axis.reference is None for axis in axes):
        return curve
    for count in sorted({round(k) for k in np.geomspace(1, most, STEPS)}) if most else []:
        seconds, volumes = [], []
        for group in groups.values():
            tried_orders = orders(len(group), ordered)
            if count == len(group):  # with all of them the order makes no difference
                tried_orders = tried_orders[:1]
            seconds.append(np.mean([sum(group[i].seconds for i in order[:count]) for order in tried_orders]))
            volumes.append(float(np.mean([_volume(group, order[:count], axes) for order in tried_orders])))
        mean, half, *_ = mean_interval(volumes)
        curve.trials.append(count)
        curve.seconds.append(float(np.mean(seconds)))
        curve.mean.append(mean or 0.0)
        curve.low.append(None if half is None or mean is None else max(0.0, mean - half))
        curve.high.append(None if half is None or mean is None else mean + half)
    return curve


class Bought(NamedTuple):
    """What an arm has after some of its trials per seed: how many, and the share of its whole hypervolume."""

    trials: int
    share: float
    half_width: float | None = None  # of its mean over seeds, as a share of the same whole


def bought(curve: CostCurve, trials: float) -> Bought | None:
    """None where the curve knows no hypervolume."""
    if not curve.mean or curve.mean[-1] <= 0:
        return None
    paid = [i for i, count in enumerate(curve.trials) if count <= trials * (1 + 1e-9)]
    if not paid:
        return Bought(0, 0.0)
    mean, high, whole = curve.mean[paid[-1]], curve.high[paid[-1]], curve.mean[-1]
    return Bought(curve.trials[paid[-1]], mean / whole, None if high is None else (high - mean) / whole)


def _until(
    group: Sequence[Spent], order: np.ndarray[Any, Any], target: float, axes: Sequence[Axis]
) -> tuple[float, int]:
    """Seconds and trials until the target, by bisection.

    Where one split chooses and another is shown, hypervolume may fall with a trial, and the place is approximate.
    """
    low, high = 0, len(order)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _volume(group, order[:middle], axes) >= target else (middle, high)
    return sum(group[i].seconds for i in order[:high]), high


def cost_to_reach(spent: Sequence[Spent], targets: Mapping[int, float], axes: Sequence[Axis], ordered: bool) -> Reach:
    """What these trials cost until they have the target of their seed, mean over orders, then over seeds.

    A target of nothing is no target: every arm has that before it begins.
    """
    groups = {seed: group for seed, group in by_seed(spent).items() if targets.get(seed, 0.0) > 0}
    seconds, trials = [], []
    for seed, group in groups.items():
        if _volume(group, np.arange(len(group)), axes) >= targets[seed]:
            reached_after = [_until(group, order, targets[seed], axes) for order in orders(len(group), ordered)]
            seconds.append(float(np.mean([spent_there for spent_there, _ in reached_after])))
            trials.append(float(np.mean([count for _, count in reached_after])))
    return Reach(mean_interval(seconds), float(np.mean(trials)) if trials else None, len(seconds), len(groups))
