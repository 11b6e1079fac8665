"""Every arm of a study by place and quality: against the baseline's front, the joint one, and the exact one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from service.analysis.fronts import Axis
from service.analysis.indicators import Indicators, indicators, mean_indicators
from service.analysis.paired import LEVEL, Paired, holm, paired
from service.analysis.place import (
    NOWHERE,
    ExactPlace,
    Place,
    Placed,
    by_arm_and_seed,
    chosen,
    exact_place_of,
    matrix,
    place_of,
    units_of,
)
from service.analysis.readings import TOLERANCE, Array

Standing = Literal["above", "on", "below", "open", "beyond"]


class ArmPlace(NamedTuple):
    """One arm: where it lies, and what a test of its distance says."""

    place: Place  # nowhere for the baseline
    exact: ExactPlace | None  # where the exact front is known
    indicators: Indicators
    draws_front: bool  # more than one configuration
    test: Paired  # of the reading of the distance that decides, against 0
    p_adjusted: float | None  # over all arms of the study
    whole: bool  # all trials of it and of the baseline have ended

    @property
    def standing(self) -> Standing | None:
        """`open`: not shown to lie off the front; `beyond`: most of it lies where the front does not reach.

        Without a test the mean decides, and the words say so.
        """
        distance = self.place.distance
        mean = distance.told.mean
        if mean is None:
            return "beyond" if self.place.beyond else None
        if abs(mean) <= TOLERANCE:
            off = distance.off(by_mean=self.p_adjusted is None)  # where tested, by all of the interval
            return "on" if off <= TOLERANCE else "open"
        if self.p_adjusted is not None and self.p_adjusted >= LEVEL:
            return "open"
        return "above" if mean > 0 else "below"

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


def _tested(place: Place, whole: bool) -> Paired:
    """Hypervolume's own test is paired by seed; a distance is one already, so it is held against 0.

    Better is tested by the line, worse by the step: p = min(1, 2·min(p(line > 0), p(step < 0))). As the line promises
    no more than the step, one of them is beyond 1/2, and this is the two-sided test of the other; between them it is 1.
    """
    decides = place.distance.decides
    values = {seed: each.step if decides == "step" else each.line for seed, each in place.by_seed.items()}
    test = paired(values, dict.fromkeys(values, 0.0))
    if decides is None:
        varies = place.distance.step.half_width or place.distance.line.half_width
        test = test._replace(p_value=1.0 if varies else None, effect_size=None)
    return test if whole else test._replace(p_value=None, effect_size=None)


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
    drawing: Collection[str],
    whole: Collection[str],
    exact: ExactFront | None,
    references: Collection[str] = (),
) -> dict[str, ArmPlace]:
    """`varied` are settings of the baseline, `drawing` arms with several configurations, `whole` those that ended.

    `references` are measured by, not measured: they have no place, no test, and no say in the units.
    """
    fronts = by_arm_and_seed(trials, axes)
    base = fronts.get(baseline or "", {})
    rivals = {arm: own for arm, own in fronts.items() if arm not in references}
    units, joint = units_of(base, rivals, axes), _joint(fronts, axes)

    def measured(name: str) -> ArmPlace:
        own = fronts.get(name, {})
        amounting = () if name in drawing else varied
        place = NOWHERE if name == baseline or name in references else place_of(own, base, axes, units, amounting)
        is_whole = name in whole and baseline in whole
        untold = ArmPlace(place, None, mean_indicators([]), name in drawing, _tested(place, is_whole), None, is_whole)
        if units is None:
            return untold
        best = {seed: joint[seed] if exact is None else exact.points for seed in own}
        each = [indicators(matrix(front, axes), best[seed], units) for seed, front in own.items()]
        known = None if exact is None else exact_place_of(own, exact.label, exact.points, axes, units)
        return untold._replace(exact=known, indicators=mean_indicators(each))

    places = [measured(name) for name in arms]
    adjusted = holm([place.test.p_value for place in places])
    return {name: place._replace(p_adjusted=p) for name, place, p in zip(arms, places, adjusted, strict=True)}
