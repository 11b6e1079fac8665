"""The grid both sides train: VIB on digits, β × three seeds, twenty epochs."""

from __future__ import annotations

from typing import Any

EPOCHS, LATENT, WIDTHS, SEEDS = 20, 16, [64, 64], [0, 1, 2]


def betas(trials: int) -> list[float]:
    count = trials // len(SEEDS)
    return [1e-4 * 10 ** (4 * i / (count - 1)) for i in range(count)]


def study(trials: int) -> dict[str, Any]:
    return {
        "name": f"bench {trials}",
        "model": {"name": "mlp", "widths": WIDTHS, "latent": LATENT},
        "training": {"epochs": EPOCHS, "batch_size": 128, "learning_rate": 1e-3},
        "seeds": SEEDS,
        "arms": [{"name": "grid", "weighting": {"name": "fixed", "beta": {"grid": betas(trials)}}}],
        "limits": {"trials": 1000},
    }
