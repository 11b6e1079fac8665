"""How far a set of points is from a front as a whole: the additive ε-indicator and IGD⁺ (moocore)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import moocore

from service.analysis.intervals import Interval
from service.analysis.readings import Array
from service.analysis.spread import seeds_mean


class Indicators(NamedTuple):
    """Of one seed, in units of the objectives' ranges; 0 is as good as the front.

    ε: what must be taken off every objective of the points for them to dominate the front (Zitzler et al. 2003).
    IGD⁺: the mean distance from the front to the points, by what is worse about them (Ishibuchi et al. 2015).
    """

    epsilon: float
    igd_plus: float


class IndicatorsOverSeeds(NamedTuple):
    """The same with their intervals."""

    epsilon: Interval
    igd_plus: Interval


def indicators(points: Array, front: Array, units: Array) -> Indicators:
    """Points [N, d] and front [F, d], less is better."""
    own, reference = points / units, front / units
    return Indicators(float(moocore.epsilon_additive(own, ref=reference)), float(moocore.igd_plus(own, ref=reference)))


def over_seeds(seeds: Sequence[Indicators]) -> IndicatorsOverSeeds:
    return IndicatorsOverSeeds(
        seeds_mean([each.epsilon for each in seeds]), seeds_mean([each.igd_plus for each in seeds])
    )
