"""Gradients that are shortened beside any optimiser."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from workers.optimizers.stacking.stacked import Optimizer, per_member
from workers.state import State

TINY = 1e-6  # beside the length, as torch.nn.utils.clip_grad_norm_ has it


class Clipped(Optimizer):
    """Descends along g·min(1, c/‖g‖), ‖g‖ the length over all parameters of a member (Pascanu et al. 2013); c is each
    member's own, infinite for those that take any length.
    """

    def __init__(self, optimizer: Optimizer, parameters: Sequence[Tensor], longest: Tensor) -> None:
        self._optimizer, self._parameters, self._longest = optimizer, list(parameters), longest

    def set_pace(self, factor: Tensor) -> None:
        self._optimizer.set_pace(factor)

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor]) -> None:
        lengths = torch.stack([torch.linalg.vector_norm(g.flatten(1), dim=1) for g in gradients])  # [parameters, K]
        share = (self._longest / (torch.linalg.vector_norm(lengths, dim=0) + TINY)).clamp_max(1.0)
        factors = per_member(share.to(lengths), self._parameters)
        self._optimizer.step([g * factor for g, factor in zip(gradients, factors, strict=True)])

    def state(self) -> State:
        return self._optimizer.state()

    def load(self, state: State) -> None:
        self._optimizer.load(state)
