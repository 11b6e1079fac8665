"""What a user's problem measures on the splits that are not trained on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from itertools import islice

import torch
from torch import Tensor

from service.contract.wording.numbers import number
from workers.own_code.functions import Function
from workers.own_code.running_members import Batch, OneByOne, Way

log = logging.getLogger(__name__)


NO_GRAPH = "does not require grad"  # torch's words where somebody differentiates without gradients


def means(way: Way, function: Function, batches: Iterable[Batch]) -> Tensor:
    """The mean over examples of what a function gives for each batch: [K, metrics]."""
    total, rows = torch.zeros(()), 0
    for batch in batches:
        total = total + torch.stack([value.detach().double() for value in way.run(function, batch)], dim=1) * batch.rows
        rows += batch.rows
    return total / rows


class Measuring:
    """Goes the way of the training, as long as the user's function can."""

    def __init__(self, way: Way, alone: OneByOne) -> None:
        self._way, self._alone = way, alone
        self._way_of: dict[Function, Way] = {}
        self._differentiating: set[Function] = set()

    def __call__(self, function: Function, batches: Callable[[], Iterable[Batch]]) -> Tensor:
        """Without gradients, unless the function takes some itself, as the residual of a differential equation does."""
        try:
            return self._measured(function, batches)
        except RuntimeError as error:
            if function in self._differentiating or NO_GRAPH not in str(error):
                raise
        self._differentiating.add(function)
        self._way_of.pop(function, None)
        return self._measured(function, batches)

    def _measured(self, function: Function, batches: Callable[[], Iterable[Batch]]) -> Tensor:
        if self._way is not self._alone:
            self._alone.kept.adopt()
        if function not in self._way_of:
            self._way_of[function] = self._compared(function, batches)
        try:
            return self._means(self._way_of[function], function, batches())
        except RuntimeError as error:
            if self._way_of[function] is self._alone:
                raise
            log.info("measured one by one: %s", _first_line(error))
            self._way_of[function] = self._alone
            return self._means(self._alone, function, batches())

    def _means(self, way: Way, function: Function, batches: Iterable[Batch]) -> Tensor:
        """What user code keeps from batch to batch of the training is afterwards as it was."""
        with self._alone.kept.unchanged(), torch.set_grad_enabled(function in self._differentiating):
            return means(way, function, batches)

    def _compared(self, function: Function, batches: Callable[[], Iterable[Batch]]) -> Way:
        """Stacked against alone, on the first batch. Alone comes first, so that a fault is told as the user's own."""
        if self._way is self._alone:
            return self._alone
        alone = self._means(self._alone, function, islice(batches(), 1))
        try:
            together = self._means(self._way, function, islice(batches(), 1))
        except Exception as error:  # noqa: BLE001 - vmap raises anything, and alone the same code just ran
            log.info("measured one by one: %s", _first_line(error))
            return self._alone
        if not torch.allclose(together, alone, rtol=1e-5, atol=1e-6, equal_nan=True):
            log.info(
                "measured one by one: stacked metrics differ by up to %s", number(float((together - alone).abs().max()))
            )
            return self._alone
        return self._way


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:300]
