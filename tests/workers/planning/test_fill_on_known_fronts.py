"""Filling where the front is known by formula: how much of its hypervolume, and how large a gap, against grids."""

from __future__ import annotations

from statistics import mean

import moocore
import numpy as np
import pytest
import torch

from service.analysis.truth import gaussian_point, toy_front
from service.contract.study.expansion import PlannedTrial, expand
from service.contract.study.gaps import Point, gaps
from service.contract.study.outcomes import objective_values
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from workers.planning.supply import Supply, searches_of
from workers.training.loop import train

SEEDS = 3
CORRELATIONS = (0.95, 0.8, 0.6)


def toy(axis: dict[str, object], search: dict[str, object]) -> Study:
    arm = {
        "name": "a",
        "problem": {"name": "toy", "front": "convex"},
        "weighting": {"name": "fixed", "beta": axis},
        "search": search,
    }
    sizes = {"model": {"name": "mlp", "latent": 4}, "training": {"epochs": 10, "learning_rate": 0.03}}
    return check_study({"name": "s", "data": {"name": "toy"}, "seeds": list(range(SEEDS)), "arms": [arm], **sizes})


def trained(study: Study) -> dict[int, list[Point]]:
    """What the trials of each seed reached."""
    planned = [trial for trial in expand(study) if isinstance(trial, PlannedTrial)]
    supply = Supply(planned, searches_of(study, {}), 1, None)
    points: dict[int, list[Point]] = {seed: [] for seed in study.seeds}
    while cohort := supply.next():
        *_, last = train(cohort, study.data, study.evaluation, torch.device("cpu"))
        for trial in cohort:
            reached = objective_values(last.metrics.get(trial.id, {}), study.choosing)
            supply.tell(trial.id, reached)
            if reached is not None:
                points[trial.seed].append((reached[0], reached[1]))
    assert supply.is_over
    return points


def hypervolume(points: list[Point], reference: Point) -> float:
    return float(moocore.hypervolume(np.array(points), ref=reference))


def test_a_wide_range_of_the_convex_toy_is_filled_to_98_percent_with_half_of_what_a_grid_needs() -> None:
    """Trained, over three seeds: 25 values, where a grid of 50 over the same six decades stays below."""
    bounds = {"from": 1e-3, "to": 1e3, "scale": "log"}
    filled = trained(toy({"range": bounds}, {"name": "fill", "trials": 25 * SEEDS, "tolerance": 0.01}))
    grid = trained(toy({"grid": {**bounds, "count": 50}}, {"name": "grid"}))
    curve = toy_front("convex")
    exact = 5 / 6  # 1 − ∫ (1 − √f)² df
    assert hypervolume(list(zip(curve.x, curve.y, strict=True)), (1.0, 1.0)) == pytest.approx(exact, rel=0.01)
    assert min(hypervolume(points, (1.0, 1.0)) for points in filled.values()) >= 0.98 * exact
    assert max(hypervolume(points, (1.0, 1.0)) for points in grid.values()) < 0.98 * exact


def reached_by_formula(beta: float) -> Point | None:
    """The best that can be trained on Gaussian data; none where the code carries nothing."""
    rate, relevance = gaussian_point(CORRELATIONS, beta)
    return (rate, -relevance) if rate > 0.05 else None


def filled_by_formula(low: float, high: float, values: int) -> list[Point]:
    arm = {
        "name": "a",
        "weighting": {"name": "fixed", "beta": {"range": {"from": low, "to": high, "scale": "log"}}},
        "search": {"name": "fill", "trials": values, "tolerance": 0.001},
    }
    goals = [
        {"metric": "i_xz_bits", "goal": "minimize", "reference": 9},
        {"metric": "i_zy_bits", "goal": "maximize"},
    ]
    (search,) = searches_of(check_study({"name": "s", "objectives": goals, "arms": [arm]}), {})
    points: list[Point] = []
    while batch := search.ask():
        for trial in batch:
            point = reached_by_formula(float(trial.config["weighting.beta"]))
            points += [point] if point else []
            search.tell(trial.id, [point[0], -point[1]] if point else None)
    return points


def on_grid(low: float, high: float, values: int) -> list[Point]:
    return [point for beta in np.geomspace(low, high, values) if (point := reached_by_formula(float(beta))) is not None]


def test_a_wide_range_on_gaussian_data_is_filled_to_98_percent_with_half_of_what_a_grid_needs() -> None:
    """By formula, up to a rate of 9 bits: the range goes on where everything collapses, which a grid cannot know."""
    exact = hypervolume(on_grid(1e-3, 0.9, 20_000), (9.0, 0.0))
    assert hypervolume(filled_by_formula(1e-4, 10.0, 50), (9.0, 0.0)) >= 0.98 * exact
    assert hypervolume(on_grid(1e-4, 10.0, 100), (9.0, 0.0)) < 0.98 * exact


@pytest.mark.parametrize("values", [10, 12, 16, 24])
def test_the_largest_gap_is_at_most_0_7_of_that_of_a_grid_of_the_same_size(values: int) -> None:
    """On average over ranges, and never larger than the grid's."""
    ranges = [(1e-4, 1.0), (1e-3, 1.0), (1e-4, 10.0), (1e-2, 2.0)]
    ratios = [
        max(gap.size for gap in gaps(filled_by_formula(low, high, values)))
        / max(gap.size for gap in gaps(on_grid(low, high, values)))
        for low, high in ranges
    ]
    assert mean(ratios) <= 0.7 and max(ratios) < 1
