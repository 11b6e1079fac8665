"""Small studies, trained here, and what they leave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from service.contract.methods.data import Digits
from service.contract.study.expansion import PlannedTrial
from service.contract.study.parsing import check_study
from service.contract.wire.epoch_report import EpochReport
from tests.planned import planned
from workers import data as datasets
from workers.planning.plan import Plan
from workers.sending.files import keep
from workers.training.loop import Cohort, train

CPU = torch.device("cpu")
MLP = {"name": "mlp", "widths": [16], "latent": 4}
MULTITASK = {"name": "multitask", "main": "class", "auxiliaries": ["rotation", "reconstruction"]}


class Left(NamedTuple):
    """What a study leaves: its last report, and the checkpoint of each trial."""

    report: EpochReport
    checkpoints: dict[str, bytes]


class _Uploads:
    given_up = False

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def put(self, trial: str, name: str, content: bytes) -> str | None:
        self.files[trial] = content
        return None


def trained(weighting: dict[str, Any], problem: dict[str, Any] | None = None, **parts: Any) -> Left:
    """One arm, trained as one cohort and sent as workers send it."""
    arm = {"name": "arm", "weighting": weighting, **({"problem": problem} if problem else {})}
    spec = {
        "name": "home",
        "model": MLP,
        "training": {"epochs": 3, "batch_size": 128, "learning_rate": 0.01},
        "seeds": [3],
        "arms": [arm],
        **parts,
    }
    study = check_study(spec)
    trials = planned(study)
    uploads: Any = _Uploads()
    plan = Plan({}, study.data, study.evaluation, 1, "s1")

    def at_end(cohort: Cohort, alive: Mapping[int, PlannedTrial]) -> None:
        keep(cohort, alive, plan, uploads)

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # fixtures of a module are made before that of each test which says so
    try:
        *_, last = train(trials, study.data, study.evaluation, CPU, at_end=at_end)
    finally:
        torch.set_num_threads(threads)
    return Left(last, uploads.files)


def held_out(**spec: Any) -> tuple[Tensor, Tensor]:
    """Images [N, 1, 8, 8] of digits and their classes, as a user has them."""
    digits = datasets.load(Digits(**spec))
    return digits.x_test[:].view(-1, 1, 8, 8), digits.y_test


def accuracy(probabilities: Tensor, y: Tensor) -> float:
    return (probabilities.argmax(-1) == y).double().mean().item()
