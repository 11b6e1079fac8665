"""Plain descent, stacked."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from workers.optimizers.stacking.stacked import Optimizer, per_member


class Sgd(Optimizer):
    """θ ← θ − η g, plain, with one η per member."""

    def __init__(self, parameters: Sequence[Tensor], learning_rate: Tensor) -> None:
        self._parameters, self._learning_rate = list(parameters), learning_rate
        self._rates = per_member(-learning_rate, parameters)

    def set_pace(self, factor: Tensor) -> None:
        self._rates = per_member(-self._learning_rate * factor, self._parameters)

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor]) -> None:
        torch._foreach_addcmul_(self._parameters, self._rates, list(gradients))
