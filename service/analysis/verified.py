"""A curve from one training against networks that were trained separately for some of its places, seed by seed.

A place is a β, or a preference among tasks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from service.analysis import readings
from service.analysis.fronts import Axis, Trial, points_of, turned
from service.analysis.intervals import Interval
from service.analysis.place import Placed, chosen, matrix, units_of
from service.analysis.readings import Array
from service.analysis.spread import seeds_mean
from service.contract.study.outcomes import collapsed
from service.contract.wire.events import Where

Reached = dict[int, list[float]]  # what was found in each seed


class AtPlace(NamedTuple):
    """The curve's point there minus the network that was trained for this place alone, in each objective's unit."""

    where: Where
    differences: dict[str, Interval]


class Gaps(NamedTuple):
    """Curves against separately trained networks. Above 0 the curve is better."""

    places: list[AtPlace]
    differences: dict[str, Interval]  # the same, mean over the places
    matched: dict[str, Interval]  # in the metric's unit, at the network's value of the other objective
    distance: Interval  # in units of the ranges of the curve's objectives
    reached: float | None  # share of the networks that have a place on the curve to be compared with


class Checked(NamedTuple):
    """The curve of a training and the networks that verify it: the same seed, all other settings the same."""

    seed: int
    curve: list[Trial]
    networks: list[tuple[Where, Trial]]


def gaps_of(pairs: Sequence[Checked], places: Sequence[Where], axes: Sequence[Axis]) -> Gaps:
    """By what is claimed of both; `places` are all for which a network was to be trained separately."""
    far, gaps, reached = _against_curves(pairs, axes)
    return Gaps(
        places=[AtPlace(where, _means(_differences(pairs, axes, [where]), axes)) for where in places],
        differences=_means(_differences(pairs, axes, places), axes),
        matched=_means(gaps, axes),
        distance=_mean(far),
        reached=reached,
    )


def _differences(pairs: Sequence[Checked], axes: Sequence[Axis], places: Sequence[Where]) -> list[Reached]:
    """By axis: the curve's value at the same place minus the network's, also where one of them collapsed."""
    reached: list[Reached] = [{} for _ in axes]
    for seed, curve, networks in pairs:
        points = points_of(curve, axes)
        wanted = {trial.id: where for where, trial in networks if any(_alike(where, place) for place in places)}
        for point in points_of([trial for _, trial in networks if trial.id in wanted], axes):
            where = wanted[point.trial]
            own = next((each for each in points if each.where and _alike(each.where, where)), None)
            if own is not None:
                for i in range(len(axes)):
                    reached[i].setdefault(seed, []).append(own.values[i] - point.values[i])
    return reached


def _alike(one: Where, other: Where) -> bool:
    """Whether these are one place; one of them comes from another process, so the last digit is left open."""
    return one.keys() == other.keys() and all(math.isclose(one[key], other[key], rel_tol=1e-9) for key in one)


def _against_curves(pairs: Sequence[Checked], axes: Sequence[Axis]) -> tuple[Reached, list[Reached], float | None]:
    """Distances by seed, gaps at matched values by axis and seed, and the share of networks that the curve reaches.

    Of the curve its front counts, chosen as everywhere; between neighbouring places it is the straight line. What
    collapsed is left out on both sides, as it is from fronts.
    """
    far: Reached = {}
    gaps: list[Reached] = [{} for _ in axes]
    fronts = [(pair, _front(pair, axes)) for pair in pairs]
    units = units_of(dict(enumerate(front for _, front in fronts if front)), {}, axes) if len(axes) == 2 else None
    if units is None:
        return far, gaps, None
    asked = reached = 0
    for pair, front in fronts:
        points = turned(points_of(_counting(trial for _, trial in pair.networks), axes), axes)
        asked += len(points)
        if not front:
            continue
        line = _line(matrix(front, axes))
        for z in points:
            if readings.is_past_an_end(line, z):
                continue
            reached += 1
            far.setdefault(pair.seed, []).append(-readings.distance(line / units, z / units).line)
            for i in (0, 1):
                if (gap := readings.gap_to_curve(line, z, i)) is not None:
                    gaps[i].setdefault(pair.seed, []).append(-gap)
    return far, gaps, reached / asked if asked else None


def _counting(trials: Iterable[Trial]) -> list[Trial]:
    return [trial for trial in trials if not collapsed(trial.metrics)]


def _front(pair: Checked, axes: Sequence[Axis]) -> list[Placed]:
    points = points_of(_counting(pair.curve), axes)
    return chosen([Placed(point, point, {}) for point in points], axes)


def _line(points: Array) -> Array:
    """Through the claimed values of points that another split may have chosen. [F, 2]"""
    return np.array([points[group].mean(0) for group in readings.pooled(points)])


def _mean(reached: Reached) -> Interval:
    """Of the seeds, each by its mean."""
    return seeds_mean([float(np.mean(values)) for values in reached.values()])


def _means(reached: Sequence[Reached], axes: Sequence[Axis]) -> dict[str, Interval]:
    return {axis.metric: _mean(own) for axis, own in zip(axes, reached, strict=True)}
