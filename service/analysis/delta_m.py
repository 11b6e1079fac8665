"""Δm, what is lost against training each task alone (Maninis et al. 2019), and the mean rank of arms over tasks.

An axis is a task's own measure, a point one trial by all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from service.analysis.fronts import Axis, Point
from service.analysis.intervals import Interval, mean_interval
from service.analysis.ranks import rank_averages


class Alone(NamedTuple):
    """What the tasks reach alone in one seed, a value per axis: what is claimed, and what chose the trial."""

    values: tuple[float, ...]
    judged: tuple[float, ...]


class DeltaM(NamedTuple):
    """One arm against single tasks, over the seeds that both have, in percent; below 0 is a gain."""

    mean: Interval
    by_seed: dict[int, float]
    by_axis: dict[str, Interval]  # each task's own part, by its metric


class AgainstSingle(NamedTuple):
    """Every arm that has all tasks that were trained alone: Δm and mean rank."""

    arms: list[str]  # the single ones
    measures: dict[str, str]  # of each task that was trained alone: its metric
    without: list[int]  # seeds whose single trials have ended without a value for every task
    delta_m: dict[str, DeltaM]
    mean_rank: dict[str, Interval]


def drops(values: Sequence[float], alone: Sequence[float], axes: Sequence[Axis]) -> list[float]:
    """100 (−1)^δ (M − M_b)/M_b of each axis, δ = 1 where higher is better: in percent, lower is better. [T]"""
    signs = [1 if axis.goal == "minimize" else -1 for axis in axes]
    return [100 * sign * (m - m_b) / m_b for sign, m, m_b in zip(signs, values, alone, strict=True)]


def alone_in(own: Sequence[Sequence[Point]], axes: Sequence[Axis]) -> Alone | None:
    """One seed's single trials by axis, each a point of its own axis alone; of several the best by what chooses.

    None where an axis has no trial, or a value of 0, of which nothing can be a share.
    """
    if not all(own):
        return None
    best = [_best(points, axis) for points, axis in zip(own, axes, strict=True)]
    alone = Alone(tuple(point.values[0] for point in best), tuple((point.judged or point.values)[0] for point in best))
    return alone if all(value > 0 for value in (*alone.values, *alone.judged)) else None


def _best(points: Sequence[Point], axis: Axis) -> Point:
    sign = 1 if axis.goal == "maximize" else -1
    return max(points, key=lambda point: sign * (point.judged or point.values)[0])


def chosen_by_seed(
    points: Sequence[Point], alone: Mapping[int, Alone], axes: Sequence[Axis]
) -> dict[str, dict[int, Point]]:
    """Of each arm and seed the trial with the least Δm by what chooses."""
    groups: dict[str, dict[int, list[Point]]] = {}
    for point in points:
        if point.seed in alone:
            groups.setdefault(point.arm, {}).setdefault(point.seed, []).append(point)

    def judged(point: Point) -> float:
        return float(np.mean(drops(point.judged or point.values, alone[point.seed].judged, axes)))

    return {arm: {seed: min(own, key=judged) for seed, own in seeds.items()} for arm, seeds in groups.items()}


def delta_m(chosen: Mapping[int, Point], alone: Mapping[int, Alone], axes: Sequence[Axis]) -> DeltaM:
    """Δm = (1/T) Σ_i of the drops of what was chosen in each seed, against single tasks of the same seed."""
    each = {seed: drops(point.values, alone[seed].values, axes) for seed, point in sorted(chosen.items())}
    by_seed = {seed: float(np.mean(own)) for seed, own in each.items()}
    by_axis = {axis.metric: mean_interval([own[i] for own in each.values()]) for i, axis in enumerate(axes)}
    return DeltaM(mean_interval(list(by_seed.values())), by_seed, by_axis)


def mean_ranks(
    chosen: Mapping[str, Mapping[int, Point]],
    arms: Sequence[str],
    seeds: Collection[int],
    axes: Sequence[Axis],
    lost: Collection[tuple[str, int]] = (),
) -> dict[str, Interval]:
    """Per seed the arms' ranks on each axis, 1 for the best, ties shared; their mean over axes, then over seeds.

    A seed counts once every arm has a result in it, or has lost it: then it comes last. One arm alone has no rank.
    """
    by_seed: list[dict[str, float]] = []
    for seed in seeds:
        known = {arm: chosen[arm][seed].values for arm in arms if seed in chosen.get(arm, {})}
        if not known or any(arm not in known and (arm, seed) not in lost for arm in arms):
            continue
        table = {arm: _signed(known.get(arm), axes) for arm in arms}
        by_seed.append(rank_averages(table, [axis.metric for axis in axes]))
    told = arms if len(arms) > 1 else []
    return {arm: mean_interval([ranks[arm] for ranks in by_seed]) for arm in told}


def _signed(values: Sequence[float] | None, axes: Sequence[Axis]) -> dict[str, float]:
    """By metric, turned so that more is better; without values worse than all.

    Means over batches carry the rounding of float32: what agrees in six digits is a tie.
    """
    if values is None:
        return {axis.metric: -np.inf for axis in axes}
    known = [float(f"{value:.6g}") for value in values]
    return {a.metric: m if a.goal == "maximize" else -m for a, m in zip(axes, known, strict=True)}
