"""Cost of a training step: MIB against fixed β, a cohort of 32 against 32 models. One thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch

from service.contract.study.parsing import check_study
from tests.benchmarks.row import Row
from tests.planned import planned
from workers.training.loop import train
from workers.weightings.solving.min_norm import PAPER_STEPS, exact, paper_steps

Solver = Callable[[torch.Tensor], torch.Tensor]


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
        min_norm_row(),
    ]


def min_norm_row(members: int = 32, terms: int = 5, rounds: int = 20) -> Row:
    """The exact min-norm point against the steps that it replaced; medians over interleaved rounds."""
    gradients = torch.randn(members, terms, 8, generator=torch.Generator().manual_seed(0))
    gram = gradients @ gradients.transpose(1, 2)
    times: dict[Solver, list[float]] = {exact: [], paper_steps: []}
    for _ in range(rounds):
        for solver, own in times.items():
            begun = time.process_time()
            solver(gram)
            own.append(1000 * (time.process_time() - begun))
    ours, theirs = (median(own) for own in times.values())
    what = f"{PAPER_STEPS} Frank–Wolfe steps / the exact min-norm point, {members} members of {terms} terms"
    return Row("steps-min-norm", "steps", what, theirs, ours, "CPU ms")


def _row(name: str, what: str, own: float, other: float) -> Row:
    return Row(name, "steps", what, own, other, "CPU ms an epoch")
