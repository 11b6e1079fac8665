"""How far a set of points is from a front as a whole: the additive ε-indicator and IGD⁺ (moocore)."""

from __future__ import annotations

from typing import NamedTuple

import moocore
import numpy as np

from service.analysis.readings import Array


class Indicators(NamedTuple):
    """In units of the objectives' ranges; 0 is as good as the front.

    ε: what must be taken off every objective of the points for them to dominate the front (Zitzler et al. 2003).
    IGD⁺: the mean distance from the front to the points, by what is worse about them (Ishibuchi et al. 2015).
    """

    epsilon: float | None
    igd_plus: float | None


def indicators(points: Array, front: Array, units: Array) -> Indicators:
    """Points [N, d] and front [F, d], less is better."""
    own, reference = points / units, front / units
    return Indicators(float(moocore.epsilon_additive(own, ref=reference)), float(moocore.igd_plus(own, ref=reference)))


def mean_indicators(seeds: list[Indicators]) -> Indicators:
    if not seeds:
        return Indicators(None, None)
    epsilon, igd_plus = np.mean(np.array(seeds, dtype=float), axis=0)
    return Indicators(float(epsilon), float(igd_plus))
