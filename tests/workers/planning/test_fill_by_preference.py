"""Filling along a preference: trained with every weighting that takes one, on a toy whose front is known."""

from __future__ import annotations

from typing import get_args

import pytest
import torch

from service.contract.methods.weightings import Weighting
from service.contract.study.gaps import Point, gaps, non_dominated
from service.contract.study.outcomes import objective_values
from service.contract.study.parsing import check_study
from workers.planning.supply import Supply, searches_of
from workers.training.loop import train

VALUES, SEEDS = 5, 2
TAKING = [
    kind.model_fields["name"].default for kind in get_args(get_args(Weighting)[0]) if "preference" in kind.model_fields
]


@pytest.mark.parametrize("weighting", TAKING)
def test_a_front_is_filled_along_a_preference(weighting: str) -> None:
    arm = {
        "name": "a",
        "problem": {"name": "toy", "front": "convex"},
        "weighting": {"name": weighting, "preference": {"range": {"from": 0.05, "to": 0.95}}},
        "search": {"name": "fill", "trials": VALUES * SEEDS, "tolerance": 0.01},
    }
    sizes = {"model": {"name": "mlp", "latent": 4}, "training": {"epochs": 5, "learning_rate": 0.03}}
    study = check_study({"name": "s", "data": {"name": "toy"}, "seeds": list(range(SEEDS)), "arms": [arm], **sizes})
    supply = Supply([], searches_of(study, {}), 1, None)
    reached: dict[float, list[Point]] = {}
    while cohort := supply.next():
        *_, last = train(cohort, study.data, study.evaluation, torch.device("cpu"))
        for trial in cohort:
            values = objective_values(last.metrics[trial.id], study.choosing)
            assert values is not None
            supply.tell(trial.id, values)
            reached.setdefault(trial.config["weighting.preference"], []).append((values[0], values[1]))
    assert supply.is_over
    first, second = ([own[seed] for _, own in sorted(reached.items())] for seed in range(SEEDS))
    print(weighting, [f"{x:.3f} {y:.3f}" for x, y in first], "largest gap", max(g.size for g in gaps(first)))
    assert len(reached) == VALUES and all(len(own) == SEEDS for own in reached.values())
    assert len(non_dominated(first)) == len(non_dominated(second)) == VALUES
