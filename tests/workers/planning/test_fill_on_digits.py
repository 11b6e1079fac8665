"""Filling where the front is not known: trained on digits, its largest gap against that of a grid of the same size."""

from __future__ import annotations

from math import exp, log
from statistics import fmean, stdev

import pytest
import torch

from findings.expression import Question, arguments
from findings.folder import load
from findings.quantities.filling import largest_gaps
from findings.replay import view_of
from service.analysis import mean_interval
from service.contract.study.expansion import PlannedTrial, expand
from service.contract.study.gaps import Point, gaps
from service.contract.study.outcomes import objective_values
from service.contract.study.parsing import check_study
from workers.planning.supply import Supply, searches_of
from workers.training.loop import train

VALUES, SEEDS = 12, 5
BOUNDS = {"from": 1e-4, "to": 1.0, "scale": "log"}


Reached = dict[float, dict[int, Point]]  # by β and seed; βs at which the code collapses have no point


def reached(axis: dict[str, object], search: dict[str, object]) -> Reached:
    """On the validation split."""
    arm = {"name": "a", "weighting": {"name": "fixed", "beta": axis}, "search": search}
    parts = {"model": {"name": "mlp", "widths": [32], "latent": 8}, "training": {"epochs": 15}}
    quick = {"evaluation": {"every": 1000}, "seeds": list(range(SEEDS))}
    study = check_study({"name": "s", "arms": [arm], **parts, **quick})
    planned = [trial for trial in expand(study) if isinstance(trial, PlannedTrial)]
    supply = Supply(planned, searches_of(study, {}), 1, None)
    points: Reached = {}
    while cohort := supply.next():
        *_, last = train(cohort, study.data, study.evaluation, torch.device("cpu"))
        for trial in cohort:
            values = objective_values(last.metrics.get(trial.id, {}), study.choosing)
            supply.tell(trial.id, values)
            if values is not None:
                points.setdefault(trial.config["weighting.beta"], {})[trial.seed] = values[0], -values[1]
    assert len(points) > VALUES / 2
    return points


def largest(points: list[Point]) -> float:
    return max(gap.size for gap in gaps(points))


def of_means(points: Reached) -> float:
    """What a search fills: the front of means over seeds."""
    return largest([(fmean(x for x, _ in own.values()), fmean(y for _, y in own.values())) for own in points.values()])


def of_seeds(points: Reached) -> list[float]:
    return [largest([own[seed] for own in points.values() if seed in own]) for seed in range(SEEDS)]


def test_the_largest_gap_on_digits_is_at_most_0_7_of_that_of_a_grid_of_the_same_size() -> None:
    """Of the means over seeds, which it fills; printed of each seed alone too, where the grid's gaps have noise."""
    filled = reached({"range": BOUNDS}, {"name": "fill", "trials": VALUES * SEEDS, "tolerance": 0.01})
    grid = reached({"grid": {**BOUNDS, "count": VALUES}}, {"name": "grid"})
    ratios = [one / other for one, other in zip(of_seeds(filled), of_seeds(grid), strict=True)]
    print(f"largest gap of means: {of_means(filled):.3f} filled, {of_means(grid):.3f} grid")
    print(f"ratio of each seed: {fmean(ratios):.2f} ± {stdev(ratios):.2f}: {[round(ratio, 2) for ratio in ratios]}")
    assert of_means(filled) <= 0.7 * of_means(grid)
    assert fmean(ratios) <= 0.7


@pytest.mark.parametrize("arm", ["filled by β", "filled by target rate"])
@pytest.mark.parametrize("shown", [False, True], ids=["validation", "test"])
def test_over_ten_kept_seeds_the_whole_interval_of_the_share_is_below_0_7(arm: str, shown: bool) -> None:
    """By what the search fills and by what it never sees."""
    kept = load("front-filling")
    view = view_of(kept)
    question = Question(kept, view, arguments(view, [arm, "grid of β"]))
    filled, grid = (largest_gaps(question, each, shown) for each in question.given.arms)
    share = mean_interval([log(filled[seed] / grid[seed]) for seed in view.study.seeds])
    assert share.seeds == 10 and share.mean is not None and share.half_width is not None
    print(f"{arm}: {exp(share.mean):.3f}, up to {exp(share.mean + share.half_width):.3f}")
    assert exp(share.mean + share.half_width) <= 0.7
