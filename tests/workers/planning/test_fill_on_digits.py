"""Filling where the front is not known: trained on digits, its largest gap against that of a grid of the same size."""

from __future__ import annotations

from statistics import fmean

import torch

from service.contract.study.expansion import PlannedTrial, expand
from service.contract.study.gaps import Point, gaps
from service.contract.study.outcomes import objective_values
from service.contract.study.parsing import check_study
from workers.planning.supply import Supply, searches_of
from workers.training.loop import train

VALUES, SEEDS = 12, 2
BOUNDS = {"from": 1e-4, "to": 1.0, "scale": "log"}


def largest_gap(axis: dict[str, object], search: dict[str, object]) -> float:
    """Of the means over seeds, on the validation split; βs at which the code collapses have no point."""
    arm = {"name": "a", "weighting": {"name": "fixed", "beta": axis}, "search": search}
    parts = {"model": {"name": "mlp", "widths": [64, 64], "latent": 16}, "training": {"epochs": 20}}
    quick = {"evaluation": {"every": 1000}, "seeds": list(range(SEEDS))}
    study = check_study({"name": "s", "arms": [arm], **parts, **quick})
    planned = [trial for trial in expand(study) if isinstance(trial, PlannedTrial)]
    supply = Supply(planned, searches_of(study, {}), 1, None)
    reached: dict[float, list[Point]] = {}
    while cohort := supply.next():
        *_, last = train(cohort, study.data, study.evaluation, torch.device("cpu"))
        for trial in cohort:
            values = objective_values(last.metrics.get(trial.id, {}), study.choosing)
            supply.tell(trial.id, values)
            if values is not None:
                reached.setdefault(trial.config["weighting.beta"], []).append((values[0], -values[1]))
    assert len(reached) > VALUES / 2
    means = [(fmean(x for x, _ in own), fmean(y for _, y in own)) for own in reached.values()]
    return max(gap.size for gap in gaps(means))


def test_the_largest_gap_on_digits_is_at_most_0_7_of_that_of_a_grid_of_the_same_size() -> None:
    filled = largest_gap({"range": BOUNDS}, {"name": "fill", "trials": VALUES * SEEDS, "tolerance": 0.01})
    assert filled <= 0.7 * largest_gap({"grid": {**BOUNDS, "count": VALUES}}, {"name": "grid"})
