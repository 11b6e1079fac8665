"""Cost of a training step: MIB against fixed β, and a cohort of 32 against 32 single models. One thread."""

from __future__ import annotations

from statistics import median
from typing import Any

import torch

from service.contract.study.parsing import check_study
from tests.planned import planned
from workers.training.loop import train


def member_seconds(weighting: dict[str, Any], members: int, epochs: int) -> float:
    """Training seconds per member and epoch, evaluation left out."""
    checked = check_study(
        {
            "name": "steps",
            "training": {"epochs": epochs},
            "seeds": list(range(members)),
            "evaluation": {"every": epochs, "samples": 1},
            "arms": [{"name": "a", "weighting": weighting}],
        }
    )
    *_, last = train(planned(checked), checked.data, checked.evaluation, torch.device("cpu"))
    seconds = [metrics["seconds"] for metrics in last.metrics.values()]
    return (seconds[0] or 0.0) / epochs


def ratios(rounds: int = 3) -> dict[str, float]:
    """Medians over interleaved rounds, so that a noisy neighbour hits all sides alike."""
    torch.set_num_threads(1)
    fixed, mib = {"name": "fixed", "beta": 0.01}, {"name": "mib"}
    found: dict[str, list[float]] = {"fixed32": [], "mib32": [], "fixed1": [], "mib1": []}
    member_seconds(fixed, 32, 2)
    for _ in range(rounds):
        found["fixed1"].append(member_seconds(fixed, 1, 20))
        found["mib1"].append(member_seconds(mib, 1, 20))
        found["fixed32"].append(member_seconds(fixed, 32, 6))
        found["mib32"].append(member_seconds(mib, 32, 6))
    middle = {name: median(values) for name, values in found.items()}
    return {
        "MIB step / fixed step, cohort of 32": middle["mib32"] / middle["fixed32"],
        "MIB step / fixed step, alone": middle["mib1"] / middle["fixed1"],
        "cohort of 32 / 32 single steps": middle["fixed32"] / middle["fixed1"],
    }
