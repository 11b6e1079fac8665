"""Fronts, hypervolumes and the comparison of arms: pure functions on plain values (moocore, numpy)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import moocore
import numpy as np

from service.contract.metrics import Goal, described
from service.contract.study import Study

Z95 = 1.959964  # standard normal quantile of 97.5 %


class Axis(NamedTuple):
    """One objective of a front: which metric, which way, and where the hypervolume is measured from."""

    metric: str
    goal: Goal
    reference: float | None


class Point(NamedTuple):
    """A trial as a point of the objective space."""

    trial: str
    arm: str
    seed: int
    values: tuple[float, ...]


class Interval(NamedTuple):
    """A mean over seeds with its 95 % half width; none when one seed cannot tell."""

    mean: float | None
    half_width: float | None
    seeds: int


def axis_for(study: Study, metric: str) -> Axis:
    """The study's own objective where it has one, the metric's defaults otherwise."""
    for objective in study.objectives:
        if objective.metric == metric:
            return Axis(metric, objective.goal, objective.reference_value)
    default = described(metric)
    return Axis(metric, default.goal, default.reference)


def points_of(trials: Sequence[tuple[str, str, int, dict[str, float | None]]], axes: Sequence[Axis]) -> list[Point]:
    """Trials (id, arm, seed, metrics) that have a finite value on every axis."""
    points = []
    for trial, arm, seed, metrics in trials:
        values = [metrics.get(axis.metric) for axis in axes]
        if all(value is not None and math.isfinite(value) for value in values):
            points.append(Point(trial, arm, seed, tuple(float(value) for value in values if value is not None)))
    return points


def _matrix(points: Sequence[Point], axes: Sequence[Axis]) -> np.ndarray[Any, Any]:
    """All axes turned so that less is better. [N, d]"""
    signs = np.array([1.0 if axis.goal == "minimize" else -1.0 for axis in axes])
    values = np.array([point.values for point in points], dtype=float).reshape(len(points), len(axes))
    return np.asarray(values * signs)


def nondominated(points: Sequence[Point], axes: Sequence[Axis]) -> list[Point]:
    """The front, sorted along the first axis; equal points all belong to it."""
    if not points:
        return []
    keep = moocore.is_nondominated(_matrix(points, axes), keep_weakly=True)
    return sorted((p for p, kept in zip(points, keep, strict=True) if kept), key=lambda p: p.values)


def hypervolume(points: Sequence[Point], axes: Sequence[Axis]) -> float | None:
    """Volume between the points and the reference; points beyond it add nothing. None where an axis has none."""
    reference = [axis.reference for axis in axes if axis.reference is not None]
    if len(reference) < len(axes):
        return None
    if not points:
        return 0.0
    turned = [value if axis.goal == "minimize" else -value for value, axis in zip(reference, axes, strict=True)]
    return float(moocore.hypervolume(_matrix(points, axes), ref=turned))


def mean_interval(values: Sequence[float]) -> Interval:
    """Mean and Student-t 95 % half width."""
    n = len(values)
    if n == 0:
        return Interval(None, None, 0)
    mean = float(np.mean(values))
    if n == 1:
        return Interval(mean, None, 1)
    from scipy.special import stdtrit  # scipy takes half a second to import, only comparisons need it

    return Interval(mean, float(stdtrit(n - 1, 0.975) * np.std(values, ddof=1) / math.sqrt(n)), n)


def wilson(share: float, count: float) -> tuple[float, float]:
    """95 % interval of a share among `count` images (Wilson 1927): honest near 0 and 1, where ± is not."""
    z2 = Z95 * Z95
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = Z95 / (1 + z2 / count) * math.sqrt(share * (1 - share) / count + z2 / (4 * count * count))
    return max(0.0, middle - half), min(1.0, middle + half)


def metric_intervals(metrics: Mapping[str, float | None]) -> dict[str, tuple[float, float]]:
    """95 % intervals of one trial's metrics over test examples, the trained model given; not over trainings."""
    found: dict[str, tuple[float, float]] = {}
    for name, value in metrics.items():
        if value is None:
            continue
        error = metrics.get(f"{name}_stderr")
        count = metrics.get("robust_images" if name.startswith("robust_") else "test_examples")
        if error is not None:
            found[name] = (value - Z95 * error, value + Z95 * error)
        elif count and (name == "accuracy" or (name.startswith("robust_") and name != "robust_images")):
            found[name] = wilson(value, count)
    return found


class ArmResult(NamedTuple):
    """One row of the comparison."""

    name: str
    hypervolume: Interval
    hypervolume_all_seeds: float | None
    front_share: float
    on_front: int
    best: dict[str, float | None]


def compare(
    trials: Sequence[tuple[str, str, int, dict[str, float | None]]],
    arms: Sequence[str],
    seeds: Sequence[int],
    axes: Sequence[Axis],
) -> list[ArmResult]:
    """Arms side by side: the same axes and reference for all, hypervolume per seed, share of the joint front."""
    points = points_of(trials, axes)
    joint = nondominated(points, axes)
    results = []
    for name in arms:
        own = [point for point in points if point.arm == name]
        by_seed = [[point for point in own if point.seed == seed] for seed in seeds]
        found = [hypervolume(group, axes) for group in by_seed if group]
        volumes = [volume for volume in found if volume is not None]
        on_front = sum(point.arm == name for point in joint)
        best: dict[str, float | None] = {}
        for metric in dict.fromkeys([*(axis.metric for axis in axes), "accuracy"]):
            goal = next((axis.goal for axis in axes if axis.metric == metric), described(metric).goal)
            known = [m[metric] for _, arm, _, m in trials if arm == name and m.get(metric) is not None]
            values = [value for value in known if value is not None]
            best[metric] = (min(values) if goal == "minimize" else max(values)) if values else None
        results.append(
            ArmResult(
                name=name,
                hypervolume=mean_interval(volumes),
                hypervolume_all_seeds=hypervolume(own, axes),
                front_share=on_front / len(joint) if joint else 0.0,
                on_front=on_front,
                best=best,
            )
        )
    return results
