"""Trials of a study without a search, which have all their values from the start."""

from __future__ import annotations

from service.contract.study.expansion import PlannedTrial, expand
from service.contract.study.study import Study


def planned(study: Study, arm: str | None = None) -> list[PlannedTrial]:
    """Of one arm, or of all of them."""
    trials = [trial for trial in expand(study) if arm is None or trial.arm == arm]
    assert all(isinstance(trial, PlannedTrial) for trial in trials)
    return [trial for trial in trials if isinstance(trial, PlannedTrial)]
