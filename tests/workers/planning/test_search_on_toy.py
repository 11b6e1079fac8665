"""A search that trains: what it suggests later beats random suggestions, where the front is known."""

from __future__ import annotations

from statistics import mean, stdev
from typing import Any

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
LATENTS = {"choice": [2, 8, 32]}
Reached = dict[str, list[float] | None]


def study(sampler: str, latent: Any = LATENTS) -> Study:
    arm = {
        "name": "tuned",
        "problem": {"name": "toy", "front": "convex"},
        "weighting": {"name": "fixed", "beta": {"range": {"from": 1e-3, "to": 1e3, "scale": "log"}}},
        "model": {"latent": latent},
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


def hypervolumes(checked: Study, first: int = 0) -> list[float]:
    """Of each seed's search, from its trial of this number on."""
    reached = trained(checked)
    counted = [(slot.seed, reached[slot.id]) for slot in expand(checked)[SEEDS * first :]]
    fronts = [[point for seed, point in counted if seed == own and point] for own in checked.seeds]
    return [float(moocore.hypervolume(np.array(front), ref=[1.0, 1.0])) for front in fronts]


def test_later_trials_of_a_search_dominate_random_ones_on_the_toy() -> None:
    later = {sampler: mean(hypervolumes(study(sampler), TRIALS // 2)) for sampler in ("tpe", "random")}
    assert later["tpe"] > 1.2 * later["random"]


def test_gaussian_processes_are_ahead_of_densities_and_of_chance_by_the_twentieth_trial() -> None:
    """Where what is searched is continuous; among unordered choices they have no such lead."""
    volumes = {sampler: hypervolumes(study(sampler, latent=8)) for sampler in ("gp", "tpe", "random")}
    for sampler, own in volumes.items():
        print(f"{sampler:8} {mean(own):.3f} ± {stdev(own):.3f} over {SEEDS} seeds: {[round(each, 3) for each in own]}")
    assert mean(volumes["gp"]) > mean(volumes["tpe"]) > mean(volumes["random"])
    assert sum(gp > tpe for gp, tpe in zip(volumes["gp"], volumes["tpe"], strict=True)) > SEEDS / 2
