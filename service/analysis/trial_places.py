"""Where each trial lies against the baseline's front of its own seed, point by point where it has many.

Of one seed there is no interval and no test: what is claimed of an arm is claimed over seeds, by its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from service.analysis.amounts import mean_of
from service.analysis.candidates import objectives, placed, points_on, settings_along
from service.analysis.compared import compared
from service.analysis.fronts import Axis, Point, nondominated, turned
from service.analysis.place import Placed, by_arm_and_seed, front_in_seed, matrix, powers_of, units_of
from service.analysis.point_place import PointPlace, SeedFront, point_place
from service.analysis.readings import Array, Reading, is_dominated
from service.analysis.single_tasks import reference_arms
from service.contract.wire.events import Where
from service.views.view import View


class PlacedPoint(NamedTuple):
    """A point of a trial; its place is not known with more than two objectives, or where one has no range."""

    where: Where | None  # on its trial's curve; none: the trial is this point alone
    dominated: bool
    place: PointPlace | None


class TrialPlace(NamedTuple):
    """A trial against the baseline's front of the same seed."""

    baseline: str
    points: list[PlacedPoint]  # along its curve


class MeanPlace(NamedTuple):
    """Of one point, or the mean over several."""

    dominated: float  # share of them
    beyond: float | None
    distance: Reading | None  # of those within the front's reach; none where less than half of them are
    matched: tuple[Reading | None, Reading | None]
    amounts: dict[str, float]  # of a single point; many amount to no one setting


class Against(NamedTuple):
    """What a study's trials are held against."""

    baseline: str
    held: frozenset[str]  # arms that are
    axes: list[Axis]
    points: dict[str, list[Point]]  # by trial
    claimed: dict[int, Array]  # the baseline's points, by seed
    fronts: dict[int, SeedFront]


def trial_place(view: View, trial: str) -> TrialPlace | None:
    """None for trials of the baseline, and for those that count for no front."""
    against = view.memo("what trials are held against", lambda: _against(view))
    own = against.points.get(trial, []) if against else []
    if against is None or not own or own[0].arm not in against.held or own[0].seed not in against.claimed:
        return None
    return TrialPlace(against.baseline, _placed_points(own, against))


def trial_mean(view: View, trial: str) -> MeanPlace | None:
    """The same in one row, for a table: of a curve, the mean over its points that no other of them dominates."""
    against = view.memo("what trials are held against", lambda: _against(view))
    place = trial_place(view, trial)
    if against is None or place is None:
        return None
    return mean_place(_placed_points(nondominated(against.points[trial], against.axes), against))


def told(reading: Reading) -> float:
    """The line where it is beaten, the step where it is not reached; 0 between them."""
    return reading.line if reading.line > 0 else min(reading.step, 0.0)


def amounting(view: View) -> list[str]:
    """Settings of the baseline that a trial may amount to."""
    baseline = compared(view).baseline
    return [] if baseline is None or not view.alike else settings_along(view, baseline)


def _against(view: View) -> Against | None:
    axes, baseline = objectives(view), compared(view).baseline
    if baseline is None or not view.alike:
        return None
    references = reference_arms(view.study)
    fronts = by_arm_and_seed(placed(view, axes), axes)
    base = fronts.get(baseline, {})
    units = units_of(base, {arm: own for arm, own in fronts.items() if arm not in references}, axes)
    points: dict[str, list[Point]] = {}
    for point in points_on(view, axes):
        points.setdefault(point.trial, []).append(point)
    held = frozenset(arm.name for arm in view.study.arms) - {baseline, *references}
    claimed = {seed: matrix(own, axes) for seed, own in base.items()}
    return Against(baseline, held, axes, points, claimed, _fronts(view, base, axes, units, baseline))


def _fronts(
    view: View, base: dict[int, list[Placed]], axes: Sequence[Axis], units: Array | None, baseline: str
) -> dict[int, SeedFront]:
    if len(axes) != 2 or units is None:
        return {}
    varied = settings_along(view, baseline)
    log = powers_of(base, varied)
    return {seed: front_in_seed(own, axes, units, varied, log) for seed, own in base.items()}


def _placed_points(own: Sequence[Point], against: Against) -> list[PlacedPoint]:
    seed = own[0].seed
    front, claimed = against.fronts.get(seed), against.claimed[seed]
    places = []
    for point, z in zip(own, turned(own, against.axes), strict=True):
        place = None if front is None else point_place(z, front)
        dominated = is_dominated(claimed, z) if place is None else place.dominated
        places.append(PlacedPoint(point.where, dominated, place))
    return places


def mean_place(points: Sequence[PlacedPoint]) -> MeanPlace:
    dominated = float(np.mean([point.dominated for point in points]))
    places = [point.place for point in points if point.place is not None]
    if not places:
        return MeanPlace(dominated, None, None, (None, None), {})
    known = [place for place in places if not place.beyond]
    first, second = (
        _mean_reading([gap for place in places if (gap := place.matched[axis]) is not None]) for axis in (0, 1)
    )
    return MeanPlace(
        dominated=dominated,
        beyond=1 - len(known) / len(places),
        distance=_mean_reading([place.distance for place in known]) if 2 * len(known) >= len(places) else None,
        matched=(first, second),
        amounts=places[0].amounts if len(places) == 1 else {},
    )


def _mean_reading(each: Sequence[Reading]) -> Reading | None:
    return Reading(*(mean_of(own, log=False) for own in zip(*each, strict=True))) if each else None
