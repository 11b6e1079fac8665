"""AdamW, stacked."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from workers.optimizers.adam import Adam
from workers.optimizers.stacking.stacked import Optimizer, paced, per_member
from workers.state import State


class AdamW(Optimizer):
    """AdamW (Loshchilov & Hutter 2019): θ ← θ(1 − ηλ), then Adam's step; η and λ are each member's own."""

    def __init__(
        self,
        adam: Adam,
        parameters: Sequence[Tensor],
        learning_rate: Tensor,
        weight_decay: Tensor,
        paces: Sequence[Tensor | None] = (),
    ) -> None:
        self._adam, self._parameters, self._paces = adam, list(parameters), paces
        self._learning_rate, self._decay = learning_rate, per_member(weight_decay, parameters)
        self.set_pace(torch.ones_like(learning_rate))

    def set_pace(self, factor: Tensor) -> None:
        rates = paced(self._learning_rate * factor, self._parameters, self._paces)
        self._kept = [1 - rate * decay for rate, decay in zip(rates, self._decay, strict=True)]
        self._adam.set_pace(factor)

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor]) -> None:
        torch._foreach_mul_(self._parameters, self._kept)
        self._adam.step(gradients)

    def state(self) -> State:
        return self._adam.state()

    def load(self, state: State) -> None:
        self._adam.load(state)
