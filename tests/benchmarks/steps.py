"""Cost of a training step: MIB against fixed β, a cohort of 32 against 32 models. One thread."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import torch

from service.contract.study.parsing import check_study
from tests.benchmarks.row import Row
from tests.planned import planned
from workers.training.loop import train


def member_seconds(weighting: dict[str, Any], members: int, epochs: int) -> float:
    """CPU seconds of training per member and epoch, evaluation left out: other programs do not count."""
    checked = check_study(
        {
            "name": "steps",
            "training": {"epochs": epochs},
            "seeds": list(range(members)),
            "evaluation": {"every": epochs, "samples": 1},
            "arms": [{"name": "a", "weighting": weighting}],
        }
    )
    *_, last = train(planned(checked), checked.data, checked.evaluation, torch.device("cpu"), time.process_time)
    seconds = [metrics["seconds"] for metrics in last.metrics.values()]
    return (seconds[0] or 0.0) / epochs


def steps(rounds: int = 3) -> list[Row]:
    """Medians over interleaved rounds, so that a noisy neighbour hits all sides alike."""
    torch.set_num_threads(1)
    weightings: dict[str, dict[str, Any]] = {
        "fixed": {"name": "fixed", "beta": 0.01},
        "mib": {"name": "mib"},
    }
    times: dict[str, list[float]] = {}
    member_seconds(weightings["fixed"], 32, 2)
    for _ in range(rounds):
        for members, epochs in ((1, 20), (32, 6)):
            for name, weighting in weightings.items():
                times.setdefault(f"{name}{members}", []).append(member_seconds(weighting, members, epochs))
    middle = {name: 1000 * median(values) for name, values in times.items()}
    return [
        _row("steps-mib-32", "a step of MIB / a step of fixed β, cohort of 32", middle["mib32"], middle["fixed32"]),
        _row("steps-mib-1", "a step of MIB / a step of fixed β, alone", middle["mib1"], middle["fixed1"]),
        _row("steps-cohort", "a step of a cohort of 32 / 32 single steps", middle["fixed32"], middle["fixed1"]),
    ]


def _row(name: str, what: str, own: float, other: float) -> Row:
    return Row(name, "steps", what, own, other, "CPU ms an epoch")
