"""The best epoch by validation: its weights are measured and kept at the end, while the training goes on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from service.contract.methods.problems import Problem
from service.contract.metrics import VALIDATION, described
from service.contract.study.expansion import PlannedTrial
from workers.state import Remembering


class BestEpoch(Remembering):
    """Of each member the first epoch in which a metric was best, and a copy of its weights then."""

    remembers = ("_epochs", "_values", "_kept")

    def __init__(self, trials: Sequence[PlannedTrial], metric: str, model: Mapping[str, Tensor]) -> None:
        self._metric, self._sign = VALIDATION.of(metric), _sign(trials[0].problem, metric)
        self._model = [tensor.detach() for tensor in model.values()]  # [K, …]
        self._kept = [tensor.clone() for tensor in self._model]
        self._epochs = torch.zeros(len(trials), dtype=torch.long)
        self._values = torch.full((len(trials),), -math.inf, dtype=torch.float64)

    def follow(self, epoch: int, columns: Mapping[str, Sequence[float]]) -> None:
        """After what was measured of an epoch; of one that was not measured, nothing."""
        if (measured := columns.get(self._metric)) is None:
            return
        values = self._sign * torch.tensor(measured, dtype=torch.float64)
        better = values > self._values  # not where it is no number
        self._values[better], self._epochs[better] = values[better], epoch
        rows = better.nonzero()[:, 0].to(self._model[0].device)
        for kept, tensor in zip(self._kept, self._model, strict=True):
            kept[rows] = tensor[rows]

    @property
    def epochs(self) -> list[float]:
        """0 where no epoch had a number."""
        return self._epochs.tolist()

    @contextmanager
    def worn(self) -> Iterator[None]:
        """The model is what it was in each member's best epoch for as long as this lasts."""
        last = [tensor.clone() for tensor in self._model]
        rows = self._epochs.nonzero()[:, 0].to(self._model[0].device)
        for tensor, kept in zip(self._model, self._kept, strict=True):
            tensor[rows] = kept[rows]
        try:
            yield
        finally:
            for tensor, own in zip(self._model, last, strict=True):
                tensor.copy_(own)


def best_epoch_of(trials: Sequence[PlannedTrial], model: Mapping[str, Tensor]) -> BestEpoch | None:
    """None where the last epoch is kept."""
    metric = trials[0].training.best
    return None if metric is None else BestEpoch(trials, metric, model)


def _sign(problem: Problem, metric: str) -> float:
    """1 where more is better, −1 where less is: a problem of your own has its metrics' rows in their names."""
    own = next((name for name in problem.metrics if name == metric), metric)
    return 1.0 if described(own).goal == "maximize" else -1.0
