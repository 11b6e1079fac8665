"""Every arm of a study by place and quality: against the baseline's front, the joint one, and the exact one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from service.analysis.fronts import Axis
from service.analysis.indicators import IndicatorsOverSeeds, indicators, over_seeds
from service.analysis.off_front import GapTest, tested
from service.analysis.paired import LEVEL, Paired, holm
from service.analysis.place import (
    NOWHERE,
    ExactPlace,
    Place,
    Placed,
    by_arm_and_seed,
    chosen,
    draws_front,
    exact_place_of,
    matrix,
    place_of,
    units_of,
)
from service.analysis.readings import TOLERANCE, Array

Standing = Literal["above", "on", "below", "open", "beyond"]


class ArmPlace(NamedTuple):
    """One arm: where it lies, and what tests of its distance and of its gaps say."""

    place: Place  # nowhere for the baseline
    exact: ExactPlace | None  # where the exact front is known
    indicators: IndicatorsOverSeeds
    draws_front: bool  # its front has more than one point in most seeds
    test: Paired  # of the reading of the distance that decides, against 0
    p_adjusted: float | None  # over all arms of the study
    whole: bool  # all trials of it and of the baseline have ended
    gaps: dict[str, GapTest]  # by objective, at the same value of the other

    @property
    def standing(self) -> Standing | None:
        """`open`: not shown to lie off the front; `beyond`: most of it lies where the front does not reach.

        Between the steps and the lines of a coarse grid is much that no front would pass: only what is near the lines
        is on it. What is not tested is not shown.
        """
        distance = self.place.distance
        mean = distance.told.mean
        if mean is None:
            return "beyond" if self.place.beyond else None
        if self._is_off_by_distance:
            return "above" if mean > 0 else "below"
        if self.below_by is not None:
            return "below"
        off = max(abs(mean), distance.off(), distance.short())
        contradicted = any(gap.contradicts for gap in self.gaps.values())
        return "on" if self.whole and off <= TOLERANCE and not contradicted else "open"

    @property
    def _is_off_by_distance(self) -> bool:
        far = abs(self.place.distance.told.mean or 0.0) > TOLERANCE
        return far and self.p_adjusted is not None and self.p_adjusted < LEVEL

    @property
    def below_by(self) -> str | None:
        """The objective in which it is shown to lie below at the same value of the other; of two the later one.

        None where its distance shows something already.
        """
        if self._is_off_by_distance or (self.place.distance.told.mean or 0.0) > 0:
            return None
        return next((metric for metric in reversed(self.gaps) if self.gaps[metric].shows_below), None)

    @property
    def slightly(self) -> Literal["above", "below"] | None:
        """A difference is shown, but its mean is within the tolerance and its interval is not."""
        mean = self.place.distance.told.mean
        if self.standing != "open" or not mean or self.p_adjusted is None or self.p_adjusted >= LEVEL:
            return None
        return "above" if mean > 0 else "below"


class ExactFront(NamedTuple):
    """A front that is known by formula, less is better. [P, 2]"""

    label: str
    points: Array


def _gap_tests(place: Place, units: Array | None, whole: bool) -> dict[str, GapTest]:
    if units is None:
        return {}
    tolerances = dict(zip(place.gaps, (TOLERANCE * units).tolist(), strict=True)) if place.gaps else {}
    tests = {
        metric: tested(place.matched[metric], own, whole and place.gaps_are_whole) for metric, own in place.gaps.items()
    }
    return {metric: GapTest(place.matched[metric], tolerances[metric], test, None) for metric, test in tests.items()}


def _adjusted(places: Sequence[ArmPlace]) -> list[ArmPlace]:
    """Distances over all arms; gaps, a question of their own, over all arms and both objectives."""
    by_distance = holm([place.test.p_value for place in places])
    by_gap = iter(holm([gap.test.p_value for place in places for gap in place.gaps.values()]))
    return [
        place._replace(
            p_adjusted=p, gaps={metric: gap._replace(p_adjusted=next(by_gap)) for metric, gap in place.gaps.items()}
        )
        for place, p in zip(places, by_distance, strict=True)
    ]


def _joint(fronts: Mapping[str, Mapping[int, Sequence[Placed]]], axes: Sequence[Axis]) -> dict[int, Array]:
    """The front of all arms together, in each seed."""
    seeds = dict.fromkeys(seed for own in fronts.values() for seed in own)
    pooled = {seed: [trial for own in fronts.values() for trial in own.get(seed, ())] for seed in seeds}
    return {seed: matrix(chosen(trials, axes), axes) for seed, trials in pooled.items()}


def arm_places(
    trials: Sequence[Placed],
    arms: Sequence[str],
    baseline: str | None,
    axes: Sequence[Axis],
    varied: Collection[str],
    whole: Collection[str],
    exact: ExactFront | None,
    references: Collection[str] = (),
) -> dict[str, ArmPlace]:
    """`varied` are settings of the baseline, `whole` the arms that have ended.

    `references` are measured by, not measured: they have no place, no test, and no say in the units.
    """
    fronts = by_arm_and_seed(trials, axes)
    base = fronts.get(baseline or "", {})
    rivals = {arm: own for arm, own in fronts.items() if arm not in references}
    units, joint = units_of(base, rivals, axes), _joint(fronts, axes)

    def measured(name: str) -> ArmPlace:
        own = fronts.get(name, {})
        place = NOWHERE if name == baseline or name in references else place_of(own, base, axes, units, varied)
        is_whole = name in whole and baseline in whole
        test, gaps = tested(place.distance, place.by_seed, is_whole), _gap_tests(place, units, is_whole)
        untold = ArmPlace(place, None, over_seeds([]), draws_front(own), test, None, is_whole, gaps)
        if units is None:
            return untold
        best = {seed: joint[seed] if exact is None else exact.points for seed in own}
        each = [indicators(matrix(front, axes), best[seed], units) for seed, front in own.items()]
        known = None if exact is None else exact_place_of(own, exact.label, exact.points, axes, units)
        return untold._replace(exact=known, indicators=over_seeds(each))

    return dict(zip(arms, _adjusted([measured(name) for name in arms]), strict=True))
