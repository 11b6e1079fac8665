"""What a cohort of the grid of 480 trials costs in CPU time, and which part of that its evaluation is. One thread."""

from __future__ import annotations

import statistics
import time
from typing import Any

import torch

from service.contract.study.parsing import check_study
from tests.benchmarks.grid import EPOCHS, study
from tests.benchmarks.row import Row
from tests.planned import planned
from workers.training.loop import train

TRIALS, MEMBERS, ROUNDS = 480, 32, 3


def cpu_seconds(evaluation: dict[str, Any]) -> float:
    """Of training and evaluating the first members of the grid together."""
    checked = check_study({**study(TRIALS), "evaluation": evaluation})
    begun = time.process_time()
    for _ in train(planned(checked)[:MEMBERS], checked.data, checked.evaluation, torch.device("cpu")):
        pass
    return time.process_time() - begun


def cohorts() -> list[Row]:
    """Medians over interleaved rounds; the first run, which reads the data, does not count."""
    torch.set_num_threads(1)
    always: dict[str, Any] = {}
    never = {"every": EPOCHS, "samples": 1}
    cpu_seconds(never)
    each = [(cpu_seconds(always), cpu_seconds(never)) for _ in range(ROUNDS)]
    evaluated, trained = (statistics.median(column) for column in zip(*each, strict=True))
    what = (
        f"a cohort of {MEMBERS} of the grid of {TRIALS} trials, evaluated every epoch / evaluated once, with one sample"
    )
    return [Row("cohort-480", "cohort", what, evaluated, trained, "CPU s")]
