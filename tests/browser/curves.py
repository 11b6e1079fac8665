"""A study of curves as a driver would send it: a grid of three βs, and a training for all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

BETAS = [10.0 ** (-4 + 4 * i / 8) for i in range(9)]
GRID = [0.001, 0.01, 0.1]
SPEC: dict[str, Any] = {
    "name": "curves",
    "training": {"epochs": 4},
    "seeds": [0, 1, 2],
    "arms": [
        {"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": GRID}}},
        {"name": "all β", "weighting": {"name": "conditional", "points": len(BETAS)}},
    ],
}


def measured(beta: float, seed: int, epoch: int = 4) -> dict[str, float]:
    """Less of both kinds of information at a larger β, more of them with each epoch, a little more with each seed."""
    rate = 0.6 / beta**0.5 * (1 + 0.02 * seed)
    label = 3.2 * (1 - math.exp(-rate / 5)) * (0.4 + 0.15 * epoch)
    return {"i_xz_bits": rate, "i_zy_bits": label, "accuracy": 0.1 + 0.27 * label}


def report(trial: dict[str, Any], epoch: int, betas: Sequence[float] = BETAS) -> dict[str, Any]:
    """Of a trial that has many points, its curve; its own metrics are those at the middle."""
    beta, seed = trial["config"].get("weighting.beta"), trial["seed"]
    metrics = {"epoch": epoch, "seconds": 0.5 * epoch, **measured(beta or betas[len(betas) // 2], seed, epoch)}
    points = None if beta else [{"where": {"beta": b}, "metrics": measured(b, seed, epoch)} for b in betas]
    sent = {"uid": f"{trial['id']}:{epoch}", "kind": "report", "trial": trial["id"], "metrics": metrics}
    return {**sent, **({"points": points} if points else {})}


def trained(trial: dict[str, Any], epochs: int = 4) -> list[dict[str, Any]]:
    own = {"trial": trial["id"]}
    reports = [report(trial, epoch) for epoch in range(1, epochs + 1)]
    started = {"uid": f"{trial['id']}:s", "kind": "trial_started", **own}
    return [started, *reports, {"uid": f"{trial['id']}:f", "kind": "trial_finished", **own}]
