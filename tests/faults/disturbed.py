"""The study that is disturbed: every way to choose trials, small networks, many epochs."""

from __future__ import annotations

from typing import Any

# Cohorts are pairs, whoever is left when a driver plans again: their members then have the same sums in the same order,
# and metrics are equal to the last bit.
PAIRS = 2
SEEDS = [0, 1]
GRID, SEARCHED = [0.001, 0.01, 0.1], 8  # three pairs, and four


def study(epochs: int, grid: list[float] = GRID, searched: int = SEARCHED, fraction: float = 0.9) -> dict[str, Any]:
    """A grid, an automatic weighting, one training for every β, and a search that goes by its own results."""
    return {
        "name": "disturbed",
        "data": {"name": "digits", "train_fraction": fraction, "test_images": 200},
        "model": {"name": "mlp", "widths": [32, 32], "latent": 4},
        "training": {"epochs": epochs, "batch_size": 64, "learning_rate": 0.002},
        "seeds": SEEDS,
        "objectives": [{"metric": "i_xz_bits", "goal": "minimize"}, {"metric": "i_zy_bits", "goal": "maximize"}],
        "arms": [
            {"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": grid}}},
            {"name": "MIB", "weighting": {"name": "mib"}},
            {"name": "every β", "weighting": {"name": "conditional", "points": 6}},
            {
                "name": "tuned β",
                "weighting": {"name": "fixed", "beta": {"range": {"from": 1e-4, "to": 1.0, "scale": "log"}}},
                "search": {"name": "optuna", "sampler": "tpe", "trials": searched, "batch": PAIRS},
            },
        ],
        "evaluation": {"samples": 1, "every": 5, "checkpoints": True},
        "resources": {"cohort": PAIRS},
    }
