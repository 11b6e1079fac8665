"""A search that trains: what it suggests later beats random suggestions, where the front is known."""

from __future__ import annotations

from statistics import mean

import moocore
import numpy as np
import torch

from service.contract.study.expansion import expand
from service.contract.study.outcomes import objective_values
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from workers.planning.supply import Supply, searches_of
from workers.training.loop import train

SEEDS, TRIALS = 5, 20


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


def later_hypervolume(sampler: str) -> float:
    """Of the second half of each seed's trials, averaged over seeds."""
    checked = study(sampler)
    supply = Supply([], searches_of(checked, {}), 1, None)
    reached: dict[str, list[float] | None] = {}
    while cohort := supply.next():
        *_, last = train(cohort, checked.data, checked.evaluation, torch.device("cpu"))
        for trial in cohort:
            reached[trial.id] = objective_values(last.metrics.get(trial.id, {}), checked.choosing)
            supply.tell(trial.id, reached[trial.id])
    assert supply.is_over and len(reached) == SEEDS * TRIALS
    later = [(slot.seed, reached[slot.id]) for slot in expand(checked)[SEEDS * TRIALS // 2 :]]
    fronts = [[point for seed, point in later if seed == own and point] for own in checked.seeds]
    return mean(float(moocore.hypervolume(np.array(front), ref=[1.0, 1.0])) for front in fronts)


def test_later_trials_of_a_search_dominate_random_ones_on_the_toy() -> None:
    assert later_hypervolume("tpe") > 1.2 * later_hypervolume("random")
