"""Fronts and hypervolumes: pure functions on plain values (moocore, numpy)."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import moocore
import numpy as np

from service.contract.metrics import Goal, described
from service.contract.study.study import Study
from service.contract.wire.events import Where

Key = tuple[str, tuple[tuple[str, float], ...]]  # of a point: its trial, and where on the trial's curve


class Trial(NamedTuple):
    """A trial by its last metrics; of one with many points, by those at one place of its curve."""

    id: str
    arm: str
    seed: int
    metrics: Mapping[str, float | None]
    where: Where | None = None


class Axis(NamedTuple):
    """One objective of a front: which metric, which way, and where the hypervolume is measured from."""

    metric: str
    goal: Goal
    reference: float | None
    chosen_by: str | None = None  # the metric that chooses where this one is claimed; none: itself


class Point(NamedTuple):
    """A trial as a point of the objective space: what is claimed of it, and what it is chosen by."""

    trial: str
    arm: str
    seed: int
    values: tuple[float, ...]
    judged: tuple[float, ...] | None = None  # on the same axes; none: by its values
    where: Where | None = None  # on the trial's curve; none: the trial is this point alone

    @property
    def key(self) -> Key:
        """What tells it from all other points: a trial may have several."""
        return key_of(self.trial, self.where)


def key_of(trial: str, where: Where | None) -> Key:
    return trial, tuple((where or {}).items())


def axis_for(study: Study, metric: str) -> Axis:
    """The study's own objective where it has one, the metric's defaults otherwise."""
    chooser = study.chosen_by(metric)
    other = None if chooser == metric else chooser
    for objective in study.objectives:
        if objective.metric == metric:
            return Axis(metric, objective.goal, objective.reference_value, other)
    default = described(metric)
    return Axis(metric, default.goal, default.reference, other)


def points_of(trials: Sequence[Trial], axes: Sequence[Axis]) -> list[Point]:
    """Those that have a finite value on every axis, and one to be chosen by."""
    points, shown = [], [axis.metric for axis in axes]
    choosing = [(axis.chosen_by or axis.metric, axis.metric) for axis in axes]
    as_shown = all(name == other for name, other in choosing)
    for trial, arm, seed, metrics, where in trials:
        values = _finite([metrics.get(name) for name in shown])
        if as_shown:
            if values is not None:
                points.append(Point(trial, arm, seed, values, None, where))
            continue
        # A log from before a split was held out has no such metric: its trials are chosen by what they show.
        judged = values and _finite([metrics.get(name, metrics[other]) for name, other in choosing])
        if values is not None and judged is not None:
            points.append(Point(trial, arm, seed, values, None if judged == values else judged, where))
    return points


def _finite(values: Sequence[float | None]) -> tuple[float, ...] | None:
    """All of them as floats; none if one is missing or no number."""
    known = [float(value) for value in values if value is not None and math.isfinite(value)]
    return tuple(known) if len(known) == len(values) else None


def turned(points: Sequence[Point], axes: Sequence[Axis]) -> np.ndarray[Any, Any]:
    """What is claimed of the points, all axes turned so that less is better. [N, d]"""
    return _turned([point.values for point in points], axes)


def _turned(values: Sequence[tuple[float, ...]], axes: Sequence[Axis]) -> np.ndarray[Any, Any]:
    signs = np.array([1.0 if axis.goal == "minimize" else -1.0 for axis in axes])
    return np.asarray(np.array(values, dtype=float).reshape(len(values), len(axes)) * signs)


def nondominated(points: Sequence[Point], axes: Sequence[Axis]) -> list[Point]:
    """The front by what chooses, sorted along the first axis of what is claimed; equal points all belong to it."""
    if not points:
        return []
    keep = moocore.is_nondominated(_turned([point.judged or point.values for point in points], axes), keep_weakly=True)
    return sorted((p for p, kept in zip(points, keep, strict=True) if kept), key=lambda p: p.values)


def hypervolume(points: Sequence[Point], axes: Sequence[Axis]) -> float | None:
    """Volume between what is claimed of the points' front and the reference; points beyond it add nothing.

    None where an axis has no reference.
    """
    reference = [axis.reference for axis in axes if axis.reference is not None]
    if len(reference) < len(axes):
        return None
    if not points:
        return 0.0
    corner = [value if axis.goal == "minimize" else -value for value, axis in zip(reference, axes, strict=True)]
    # Where nothing else chooses, dominated points add nothing, and need not be looked for.
    chosen = nondominated(points, axes) if any(point.judged for point in points) else points
    return float(moocore.hypervolume(turned(chosen, axes), ref=corner))


def hypervolume_by_seed(
    points: Sequence[Point], seeds: Sequence[int], axes: Sequence[Axis], lost: Collection[int] = ()
) -> dict[int, float]:
    """Of each seed's points. Seeds that are `lost` have 0, others without a point are missing."""
    groups = {seed: [point for point in points if point.seed == seed] for seed in seeds}
    volumes = {seed: hypervolume(group, axes) for seed, group in groups.items() if group or seed in lost}
    return {seed: volume for seed, volume in volumes.items() if volume is not None}


def front_share(arm: str, points: Sequence[Point], seeds: Sequence[int], axes: Sequence[Axis]) -> float:
    """What of the front would be lost without an arm: (H − H₋ₐ)/H, mean over seeds with H > 0.

    H is the hypervolume of all arms' points of a seed, H₋ₐ that without the arm's: the difference is the part of the
    attained region that only this arm attains. Shares of arms that attain the same do not add up to 1.
    """
    whole = hypervolume_by_seed(points, seeds, axes)
    without = hypervolume_by_seed([point for point in points if point.arm != arm], seeds, axes)
    shares = [1 - without.get(seed, 0.0) / volume for seed, volume in whole.items() if volume > 0]
    return min(1.0, max(0.0, float(np.mean(shares)))) if shares else 0.0
