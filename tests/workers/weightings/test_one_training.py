"""One training for every β beside a coarse grid of the same βs, each for as many epochs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from service.analysis.fronts import Axis, Trial, hypervolume_by_seed, points_of
from service.contract.metrics import I_XZ, I_ZY
from service.contract.study.parsing import check_study
from tests.planned import planned
from workers.training.loop import train

SEEDS = [0, 1]
AXES = [Axis(I_XZ, "minimize", 32.0), Axis(I_ZY, "maximize", 0.0)]
BETAS = {"from": 1e-3, "to": 0.3}


def trained(weighting: dict[str, Any]) -> list[Trial]:
    """Trials by what they report at the end, at each place of their curves."""
    study = check_study(
        {
            "name": "s",
            "training": {"epochs": 16},
            "seeds": SEEDS,
            "evaluation": {"every": 16, "samples": 4},
            "arms": [{"name": "a", "weighting": weighting}],
        }
    )
    trials = planned(study)
    *_, last = train(trials, study.data, study.evaluation, torch.device("cpu"))
    own = {each.id: [point["metrics"] for point in last.points.get(each.id, [])] for each in trials}
    return [
        Trial(each.id, "a", each.seed, metrics)
        for each in trials
        for metrics in own[each.id] or [last.metrics[each.id]]
    ]


def volumes(trials: Sequence[Trial]) -> dict[int, float]:
    return hypervolume_by_seed(points_of(trials, AXES), SEEDS, AXES)


def test_one_network_has_more_hypervolume_than_a_grid_of_as_many_betas() -> None:
    grid = volumes(trained({"name": "fixed", "beta": {"grid": {**BETAS, "count": 4, "scale": "log"}}}))
    one = volumes(trained({"name": "conditional", "beta": BETAS, "points": 4}))
    assert all(one[seed] > 1.1 * grid[seed] for seed in SEEDS)
