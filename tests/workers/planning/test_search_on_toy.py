"""A search that trains: what it suggests later beats random suggestions, where the front is known."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean

import moocore
import numpy as np
import pytest
import torch

from findings.folder import load
from findings.quantities.volumes import volumes as volumes_of
from findings.replay import view_of
from service.analysis.paired import paired
from service.contract.study.expansion import expand
from service.contract.study.outcomes import objective_values
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from workers.planning.supply import Supply, searches_of
from workers.training.loop import train

SEEDS, TRIALS = 5, 20
Reached = dict[str, list[float] | None]


def study(sampler: str) -> Study:
    arm = {
        "name": "tuned",
        "problem": {"name": "toy", "front": "convex"},
        "weighting": {"name": "fixed", "beta": {"range": {"from": 1e-3, "to": 1e3, "scale": "log"}}},
        "model": {"latent": {"choice": [2, 8, 32]}},
        "training": {"learning_rate": {"range": {"from": 1e-5, "to": 1.0, "scale": "log"}}},
        "search": {"name": "optuna", "sampler": sampler, "trials": SEEDS * TRIALS},
    }
    plain = {"seeds": list(range(SEEDS)), "data": {"name": "toy"}, "training": {"epochs": 5}}
    return check_study({"name": "s", "arms": [arm], **plain})


def trained(checked: Study) -> Reached:
    """What each trial reached, all of them searched and trained in this process."""
    supply = Supply([], searches_of(checked, {}), 1, None)
    reached: Reached = {}
    while cohort := supply.next():
        *_, last = train(cohort, checked.data, checked.evaluation, torch.device("cpu"))
        for trial in cohort:
            reached[trial.id] = objective_values(last.metrics.get(trial.id, {}), checked.choosing)
            supply.tell(trial.id, reached[trial.id])
    assert supply.is_over and len(reached) == SEEDS * TRIALS
    return reached


def hypervolumes(checked: Study, first: int) -> list[float]:
    """Of each seed's search, from its trial of this number on."""
    reached = trained(checked)
    counted = [(slot.seed, reached[slot.id]) for slot in expand(checked)[SEEDS * first :]]
    fronts = [[point for seed, point in counted if seed == own and point] for own in checked.seeds]
    return [float(moocore.hypervolume(np.array(front), ref=[1.0, 1.0])) for front in fronts]


def test_later_trials_of_a_search_dominate_random_ones_on_the_toy() -> None:
    later = {sampler: mean(hypervolumes(study(sampler), TRIALS // 2)) for sampler in ("tpe", "random")}
    assert later["tpe"] > 1.2 * later["random"]


@pytest.mark.parametrize("other", ["TPE", "random"])
def test_gaussian_processes_are_ahead_of_densities_and_of_chance_in_the_kept_study(other: str) -> None:
    """Over ten searches each, by the 95 % interval of the paired differences after the twentieth trial."""
    view = view_of(load("search-toy"))
    assert lead(volumes_of(view, "GP"), volumes_of(view, other), f"GP − {other}, kept") > 0


def lead(one: Mapping[int, float], other: Mapping[int, float], name: str) -> float:
    """The lower end of the interval."""
    middle, half, seeds, *_ = paired(one, other).difference
    assert middle is not None and half is not None
    print(f"{name}: {middle:+.3f} ± {half:.3f} over {seeds} seeds")
    return middle - half
