"""Cohorts to train in tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch

from service.contract.methods.data import Digits
from service.contract.methods.models import Mlp
from service.contract.methods.problems import Bottleneck
from service.contract.methods.weightings import Fixed, Mib
from service.contract.study.expansion import PlannedTrial
from service.contract.study.study import Evaluation, Training
from service.contract.wire.epoch_report import EpochReport
from workers.training.loop import train

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Cohorts:
    """Plans trials by hand and trains them."""

    def trial(self, name: str, weighting: Fixed | Mib, seed: int = 0, **training: Any) -> PlannedTrial:
        model = Mlp(widths=[32], latent=8)
        return PlannedTrial(name, "arm", seed, {}, Bottleneck(), weighting, model, Training(**training))

    def reports(self, trials: Sequence[PlannedTrial], **evaluation: Any) -> list[EpochReport]:
        reports = list(train(trials, Digits(), Evaluation(**evaluation), CPU))
        assert reports and reports[-1].final
        return reports


@pytest.fixture
def cohorts() -> Cohorts:
    return Cohorts()
