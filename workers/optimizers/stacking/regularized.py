"""L1 and L2 beside any optimiser."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from workers.optimizers.stacking.stacked import Optimizer, per_member
from workers.state import State


class Regularized(Optimizer):
    """Descends along g + l1·sign(θ) + l2·θ, with one l1 and l2 per member: the loss with l1·Σ|θ| + l2/2·Σθ² added."""

    def __init__(self, optimizer: Optimizer, parameters: Sequence[Tensor], l1: Tensor, l2: Tensor) -> None:
        self._optimizer = optimizer
        self._parameters = list(parameters)
        self._l1, self._l2 = per_member(l1, parameters), per_member(l2, parameters)

    def set_pace(self, factor: Tensor) -> None:
        self._optimizer.set_pace(factor)

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor]) -> None:
        terms = zip(gradients, self._parameters, self._l1, self._l2, strict=True)
        self._optimizer.step([g.addcmul(p.sign(), l1).addcmul_(p, l2) for g, p, l1, l2 in terms])

    def state(self) -> State:
        return self._optimizer.state()

    def load(self, state: State) -> None:
        self._optimizer.load(state)
