"""A point against the front of another arm in the same seed: how good it is, and which setting it amounts to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from service.analysis import readings
from service.analysis.amounts import mean_of
from service.analysis.readings import Array, Reading


class SettingsAlong(NamedTuple):
    """What varies along a front: the numbers of each of its points, and which of them are powers."""

    values: Sequence[Mapping[str, float]]
    log: Collection[str]

    def at(self, segment: int, share: float) -> dict[str, float]:
        """Between a point and the next one."""
        here, there = self.values[segment], self.values[min(segment + 1, len(self.values) - 1)]
        return {
            key: mean_of([here[key], there[key]], key in self.log, [1 - share, share]) for key in here if key in there
        }


class SeedFront(NamedTuple):
    """A front [F, 2] in its order, less is better; the settings along it; the unit of each axis. [2]"""

    points: Array
    along: SettingsAlong
    units: Array


def seed_front(points: Array, numbers: Sequence[Mapping[str, float]], log: Collection[str], units: Array) -> SeedFront:
    """Of what is claimed of chosen points [N, 2], each with its settings; those that disagree are pooled."""
    groups = readings.pooled(points)
    front = np.array([points[group].mean(0) for group in groups])
    values = [mean_numbers([numbers[i] for i in group], log) for group in groups]
    return SeedFront(front, SettingsAlong(values, log), units)


def mean_numbers(numbers: Sequence[Mapping[str, float]], log: Collection[str]) -> dict[str, float]:
    keys = dict.fromkeys(key for each in numbers for key in each)
    return {key: mean_of([each[key] for each in numbers if key in each], key in log) for key in keys}


class PointPlace(NamedTuple):
    """Above 0 is better than the front, below it worse."""

    distance: Reading  # in units of the objectives' ranges
    matched: tuple[Reading | None, Reading | None]  # by axis, in its unit, at the same value of the other; where known
    dominated: bool
    beyond: bool  # where the front does not reach: better than all of it on one axis and worse on the other
    amounts: dict[str, float]  # settings of the front that land there; none beyond its reach


def point_place(z: Array, front: SeedFront) -> PointPlace:
    """A point [2] on the same axes."""
    scaled, own = front.points / front.units, z / front.units
    beyond = readings.is_beyond(scaled, own)
    return PointPlace(
        distance=readings.distance(scaled, own),
        matched=(readings.gap(front.points, z, 0), readings.gap(front.points, z, 1)),
        dominated=readings.is_dominated(front.points, z),
        beyond=beyond,
        amounts={} if beyond else front.along.at(*readings.nearest(scaled, own)[:2]),
    )
