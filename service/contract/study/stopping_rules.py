"""What stopping trials early needs of the other parts of a study."""

from __future__ import annotations

from collections.abc import Iterator

from service.contract.methods.own_problems import OwnProblem
from service.contract.methods.searches import GridSearch
from service.contract.methods.weightings import OfCurves
from service.contract.study.study import Arm, Study
from service.contract.wire.errors import Detail
from service.contract.wording.numbers import setting


def broken(study: Study) -> Iterator[Detail]:
    """Halving compares trials that are all known before, train epoch by epoch here, and are one point each."""
    if study.stopping is None:
        return
    for name in ("gain", "training_seconds"):
        if (asked := getattr(study.limits, name)) is not None:
            rule = "stopping halving decides by itself which trials end early: leave this limit out"
            yield Detail(path=f"limits.{name}", message=f"{rule}, got {setting(asked)}")
    for i, arm in enumerate(study.arms):
        training = study.training_of(arm)
        if training is not None and study.stopping.first >= training.epochs:
            rule = f"the first rung must come before the last epoch, which is {training.epochs} in arm {arm.name!r}"
            yield Detail(path="stopping.first", message=f"{rule}, got {study.stopping.first}")
        if needs := _needs(arm):
            place, rule, got = needs
            yield Detail(path=f"arms[{i}].{place}", message=f"stopping halving needs {rule}, got {got!r}")


def _needs(arm: Arm) -> tuple[str, str, str] | None:
    """Where, what it must be, and what it is instead: the first that is missing."""
    if not isinstance(arm.search, GridSearch):
        return "search", "search grid, as it compares trials that are all planned before", arm.search.name
    if arm.run == "elsewhere":
        return "run", "trials that are trained here, as they wait for each other", arm.run
    if isinstance(arm.weighting, OfCurves):
        return "weighting.name", "trials that are one point each, not a curve", arm.weighting.name
    if isinstance(arm.problem, OwnProblem) and arm.problem.is_script:
        return "problem.name", "a problem whose epochs are trained here, not a script", arm.problem.name
    return None
