"""Which trials of an arm come together where a study may have enough: batches, the same for driver and reader."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from math import ceil

from service.contract.methods.searches import BATCHES, LARGEST_BATCH, GridSearch, OptunaSearch
from service.contract.study.expansion import PlannedTrial, Slot, count_trials, expand
from service.contract.study.study import Arm, Study

Batches = list[list[PlannedTrial | Slot]]


def comes_in_batches(arm: Arm) -> bool:
    """Whether the driver decides when its trials are trained: a grid elsewhere is handed out as a whole."""
    return isinstance(arm.search, OptunaSearch) or (isinstance(arm.search, GridSearch) and arm.run == "here")


def batches_of(study: Study, planned: Iterable[PlannedTrial | Slot] | None = None) -> dict[str, dict[int, Batches]]:
    """By arm and seed, of the trials that the study expands to, or of those that a reader has of it.

    A search has its own order; a grid's configurations come in one drawn at random, the same for every seed and every
    driver, since in the order of the grid a curve says nothing about what is left of it.
    """
    by_arm: dict[str, dict[int, Batches]] = {}
    trials = [trial for trial in (expand(study) if planned is None else planned) if not trial.verifies]
    sizes = count_trials(study)
    for arm in study.arms:
        if comes_in_batches(arm):
            drawn = [trial for trial in trials if trial.arm == arm.name]
            drawn = drawn if isinstance(arm.search, OptunaSearch) else sorted(drawn, key=_drawn)
            seeds = {seed: [trial for trial in drawn if trial.seed == seed] for seed in study.seeds}
            size = batch_size(arm, ceil(sizes[arm.name] / len(study.seeds)))  # of all, though some may be spared
            by_arm[arm.name] = {
                seed: [own[i : i + size] for i in range(0, len(own), size)] for seed, own in seeds.items()
            }
    return by_arm


def count_batches(study: Study) -> dict[str, int]:
    """By arm, of the seed that has the most of them, by their numbers alone; arms that come at once are not in it."""
    sizes = count_trials(study)
    counts = [(arm, ceil(sizes[arm.name] / len(study.seeds))) for arm in study.arms if comes_in_batches(arm)]
    return {arm.name: ceil(count / batch_size(arm, count)) for arm, count in counts}


def batch_size(arm: Arm, trials: int) -> int:
    if isinstance(arm.search, OptunaSearch):
        return arm.search.batch_of(trials)
    return max(1, min(LARGEST_BATCH, trials // BATCHES))


def _drawn(trial: PlannedTrial | Slot) -> str:
    config = json.dumps(trial.config, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(config.encode()).hexdigest()
