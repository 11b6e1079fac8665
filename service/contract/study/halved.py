"""Which arms of a study halving cuts, and why it leaves the others alone."""

from __future__ import annotations

from typing import NamedTuple

from service.contract.methods.own_problems import OwnProblem
from service.contract.methods.searches import Suggesting
from service.contract.methods.weightings import OfCurves
from service.contract.study.study import Arm, Study


class Whole(NamedTuple):
    """Why the trials of an arm are all trained to their end: the place in the arm that says so, and its value."""

    place: str
    why: str
    value: str


def whole(arm: Arm) -> Whole | None:
    """None for an arm whose trials can be compared at a rung: all planned before, trained here, one point each."""
    if isinstance(arm.search, Suggesting):
        return Whole("search", "a search learns from what its trials reach at their end", arm.search.name)
    if arm.run == "elsewhere":
        return Whole("run", "who trains elsewhere does not wait at a rung", arm.run)
    if isinstance(arm.weighting, OfCurves):
        return Whole("weighting.name", "each of its trials is a curve, not one point", arm.weighting.name)
    if isinstance(arm.problem, OwnProblem) and arm.problem.is_script:
        return Whole("problem.name", "a script trains by itself and does not wait at a rung", arm.problem.name)
    return None


def halved(study: Study) -> list[Arm]:
    """Arms that it may cut, if they have configurations enough."""
    return [] if study.stopping is None else [arm for arm in study.arms if whole(arm) is None]
