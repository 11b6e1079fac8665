"""Descent with momentum, stacked."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from workers.optimizers.sgd import Sgd
from workers.optimizers.stacking.stacked import per_member


class Momentum(Sgd):
    """v ← μ v + g; θ ← θ − η v, or with Nesterov's look ahead θ ← θ − η (g + μ v) (Sutskever et al. 2013).

    η, μ and whether to look ahead are each member's own. A member with μ = 0 descends plainly.
    """

    remembers = ("_velocity",)

    def __init__(self, parameters: Sequence[Tensor], learning_rate: Tensor, momentum: Tensor, nesterov: Tensor) -> None:
        super().__init__(parameters, learning_rate)
        self._velocity = [torch.zeros_like(p) for p in parameters]
        self._kept = per_member(momentum, parameters)  # μ
        self._own = per_member(nesterov.to(momentum), parameters)  # how much of g is in the step besides …
        self._moved = per_member(torch.where(nesterov, momentum, 1.0), parameters)  # … how much of v

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor]) -> None:
        g = list(gradients)
        torch._foreach_mul_(self._velocity, self._kept)
        torch._foreach_add_(self._velocity, g)
        moves = torch._foreach_mul(self._velocity, self._moved)
        torch._foreach_addcmul_(moves, self._own, g)
        torch._foreach_addcmul_(self._parameters, self._rates, moves)
