"""Fronts and hypervolumes: pure functions on plain values (moocore, numpy)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import moocore
import numpy as np

from service.contract.metrics import Goal, described
from service.contract.study.study import Study

Trial = tuple[str, str, int, dict[str, float | None]]  # id, arm, seed, last metrics


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


def axis_for(study: Study, metric: str) -> Axis:
    """The study's own objective where it has one, the metric's defaults otherwise."""
    for objective in study.objectives:
        if objective.metric == metric:
            return Axis(metric, objective.goal, objective.reference_value)
    default = described(metric)
    return Axis(metric, default.goal, default.reference)


def points_of(trials: Sequence[Trial], axes: Sequence[Axis]) -> list[Point]:
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
