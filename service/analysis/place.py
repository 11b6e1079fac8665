"""Where an arm lies against the front of another one, seed by seed: how good it is, and which setting it amounts to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from service.analysis import readings
from service.analysis.amounts import Amount, Settings, amount_over_seeds, is_log, numbers_of
from service.analysis.fronts import Axis, Point, nondominated, turned
from service.analysis.intervals import Interval, Share, share_interval
from service.analysis.point_place import SeedFront, mean_numbers, point_place, seed_front
from service.analysis.readings import Array, Reading
from service.analysis.spread import NOTHING, Spread, seeds_mean, spread_of

MOST = 1 / 2  # of an arm's front: if more is beyond the reach of the other, how good it is is not known


class Placed(NamedTuple):
    """A trial that may lie on a front: chosen by one point, claimed to be at another, which may be the same."""

    chosen_by: Point
    claimed: Point
    settings: Settings


class Place(NamedTuple):
    """An arm against a front, over the seeds that both have. Above 0 is better than the front, below it worse."""

    distance: Spread  # in units of the objectives' ranges; nothing where most of it is beyond the front's reach
    by_seed: dict[int, Reading]  # of the distance, mean over the arm's front
    matched: dict[str, Spread]  # in the metric's unit, at the same value of the other objective
    gaps: dict[str, dict[int, Reading]]  # of these, by seed, mean over what has one
    gaps_are_whole: bool  # all of the arm's front has both gaps, in every seed
    domination: Share  # of the arm's front by the other one
    beyond: float | None  # share of it that the other front does not reach
    amounts: dict[str, Amount]  # settings of the other front that land there, over the seeds in which it reaches there
    between: dict[str, tuple[Amount, Amount]]  # instead, of an arm that draws a front: the least, the largest of them
    seeds: int  # that both have

    @property
    def dominated(self) -> float | None:
        return self.domination.mean

    @property
    def amounts_to(self) -> dict[str, float]:
        return {key: amount.mean for key, amount in self.amounts.items()}


class SeedPlace(NamedTuple):
    """The same in one seed: of each trial of the arm's front."""

    distances: list[Reading]  # of those within the front's reach; of all where none is
    matched: list[list[Reading]]  # by axis
    dominated: float
    beyond: float
    amounts: list[dict[str, float]]


def chosen(trials: Sequence[Placed], axes: Sequence[Axis]) -> list[Placed]:
    """The trials that no other of them dominates by what they are chosen by."""
    kept = {point.key for point in nondominated([trial.chosen_by for trial in trials], axes)}
    return [trial for trial in trials if trial.chosen_by.key in kept]


def by_arm_and_seed(trials: Sequence[Placed], axes: Sequence[Axis]) -> dict[str, dict[int, list[Placed]]]:
    """What each arm's front is made of, in each seed."""
    groups: dict[str, dict[int, list[Placed]]] = {}
    for trial in trials:
        groups.setdefault(trial.claimed.arm, {}).setdefault(trial.claimed.seed, []).append(trial)
    return {arm: {seed: chosen(own, axes) for seed, own in seeds.items()} for arm, seeds in groups.items()}


def draws_front(fronts: Mapping[int, Sequence[Placed]]) -> bool:
    """Whether these have more than one point each, in most seeds."""
    several = [len({trial.claimed.values for trial in front}) > 1 for front in fronts.values()]
    return sum(several) > len(several) / 2


def matrix(trials: Sequence[Placed], axes: Sequence[Axis]) -> Array:
    """What is claimed, turned so that less is better. [N, d]"""
    return turned([trial.claimed for trial in trials], axes)


def units_of(
    baseline: Mapping[int, Sequence[Placed]], fronts: Mapping[str, Mapping[int, Sequence[Placed]]], axes: Sequence[Axis]
) -> Array | None:
    """The range of each objective over the baseline's fronts, all seeds; over those of all arms if it draws none.

    None where an objective has no range. [d]
    """
    drawn = [front for front in baseline.values() if len(front) > 1]
    pooled = drawn or [front for seeds in fronts.values() for front in seeds.values()]
    if not pooled:
        return None
    ranges = np.ptp(np.concatenate([matrix(front, axes) for front in pooled]), axis=0)
    return ranges if (ranges > 0).all() else None


def place_in_seed(own: Array, front: SeedFront) -> SeedPlace:
    """Points [N, 2] against a front."""
    places = [point_place(z, front) for z in own]
    known = [place for place in places if not place.beyond]
    return SeedPlace(
        distances=[place.distance for place in known or places],
        matched=[[gap for place in places if (gap := place.matched[axis]) is not None] for axis in (0, 1)],
        dominated=float(np.mean([place.dominated for place in places])),
        beyond=1 - len(known) / len(own),
        amounts=[place.amounts for place in known],
    )


def _dominated(own: Array, front: Array) -> float:
    return float(np.mean([readings.is_dominated(front, point) for point in own]))


def _mean(each: Sequence[Reading]) -> Reading:
    step, line = np.mean(each, axis=0)
    return Reading(float(step), float(line))


def front_in_seed(
    baseline: Sequence[Placed], axes: Sequence[Axis], units: Array, varied: Collection[str], log: Collection[str]
) -> SeedFront:
    """What others of its seed are held against."""
    numbers = [numbers_of(trial.settings, varied) for trial in baseline]
    return seed_front(matrix(baseline, axes), numbers, log, units)


def powers_of(baseline: Mapping[int, Sequence[Placed]], varied: Collection[str]) -> set[str]:
    """Those of the settings that were meant as powers."""
    numbers = [numbers_of(trial.settings, varied) for front in baseline.values() for trial in front]
    return {key for key in varied if is_log(each[key] for each in numbers if key in each)}


def _amounts(seeds: Sequence[Mapping[str, float]], log: Collection[str]) -> dict[str, Amount]:
    keys = dict.fromkeys(key for each in seeds for key in each)
    return {key: amount_over_seeds([each[key] for each in seeds if key in each], key in log) for key in keys}


def _between(seeds: Sequence[Sequence[Mapping[str, float]]], log: Collection[str]) -> dict[str, tuple[Amount, Amount]]:
    """Of the settings of each seed's points the least and the largest."""
    keys = dict.fromkeys(key for seed in seeds for each in seed for key in each)
    by_key = {key: [own for seed in seeds if (own := [each[key] for each in seed if key in each])] for key in keys}
    return {
        key: (amount_over_seeds(list(map(min, seen)), key in log), amount_over_seeds(list(map(max, seen)), key in log))
        for key, seen in by_key.items()
    }


def place_of(
    own: Mapping[int, Sequence[Placed]],
    baseline: Mapping[int, Sequence[Placed]],
    axes: Sequence[Axis],
    units: Array | None,
    varied: Collection[str] = (),
) -> Place:
    """An arm's fronts by seed against the baseline's; `varied` are the settings that change along the baseline's.

    With more than two objectives neighbours have no order, so there is no line: only what is dominated is told.
    """
    shared = [seed for seed in own if seed in baseline]
    if len(axes) != 2 or units is None:
        shares = [_dominated(matrix(own[seed], axes), matrix(baseline[seed], axes)) for seed in shared]
        return NOWHERE._replace(domination=share_interval(shares))
    log = powers_of(baseline, varied)
    seeds = {}
    for seed in shared:
        front = front_in_seed(baseline[seed], axes, units, varied, log)
        seeds[seed] = place_in_seed(matrix(own[seed], axes), front)
    known, drawing = list(seeds.values()), draws_front(own)
    beyond = float(np.mean([seed.beyond for seed in known])) if known else None
    by_seed = {} if (beyond or 0.0) > MOST else {seed: _mean(own.distances) for seed, own in seeds.items()}
    gaps = [{seed: _mean(each.matched[i]) for seed, each in seeds.items() if each.matched[i]} for i in (0, 1)]
    return Place(
        distance=spread_of(list(by_seed.values()), [seeds[seed].beyond < 1 for seed in by_seed]),
        by_seed=by_seed,
        matched={axis.metric: spread_of(list(own.values())) for axis, own in zip(axes, gaps, strict=True)},
        gaps={axis.metric: own for axis, own in zip(axes, gaps, strict=True)},
        gaps_are_whole=all(len(each.matched[i]) == len(own[seed]) for seed, each in seeds.items() for i in (0, 1)),
        domination=share_interval([seed.dominated for seed in known]),
        beyond=beyond,
        amounts={} if drawing else _amounts([mean_numbers(seed.amounts, log) for seed in known], log),
        between=_between([seed.amounts for seed in known], log) if drawing else {},
        seeds=len(known),
    )


class ExactPlace(NamedTuple):
    """An arm against a front that is known by formula; above 0 is better than it, which only noise can be."""

    label: str
    distance: Interval  # in units of the objectives' ranges
    matched: dict[str, Interval]

    @property
    def standing(self) -> Literal["on", "off"] | None:
        """By the whole interval: within the tolerance, or farther below than that; none where it is neither."""
        mean, half = self.distance.mean, self.distance.half_width
        if mean is None or half is None:
            return None
        if abs(mean) + half <= readings.TOLERANCE:
            return "on"
        return "off" if mean + half < -readings.TOLERANCE else None


def exact_place_of(
    own: Mapping[int, Sequence[Placed]], label: str, curve: Array, axes: Sequence[Axis], units: Array
) -> ExactPlace:
    """Against a curve [P, 2] on which less is better, each seed's mean over its trials."""
    front = curve[readings.front_order(curve)]
    points = [matrix(trials, axes) for trials in own.values()]
    scaled = front / units
    lines = [
        [readings.distance(scaled, z / units).line for z in seed if not readings.is_beyond(scaled, z / units)]
        for seed in points
    ]
    gaps = [
        [[g for z in seed if (g := readings.gap_to_curve(front, z, axis)) is not None] for seed in points]
        for axis in (0, 1)
    ]
    matched = {axis.metric: _mean_over_seeds(own_gaps) for axis, own_gaps in zip(axes, gaps, strict=True)}
    return ExactPlace(label, _mean_over_seeds(lines), matched)


def _mean_over_seeds(by_seed: Sequence[Sequence[float]]) -> Interval:
    return seeds_mean([float(np.mean(seed)) for seed in by_seed if seed])


NOWHERE = Place(NOTHING, {}, {}, {}, False, share_interval([]), None, {}, {}, 0)
