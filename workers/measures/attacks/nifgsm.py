"""Nesterov iterative FGSM (Lin et al. 2020)."""

from __future__ import annotations

from torch import Tensor

from service.contract.methods.attacks import Nifgsm as Spec
from workers.measures.attacks.steps.ascent import Momentum


class Nifgsm(Momentum):
    """Momentum with the gradient at x + decay·α·d; that place is not clipped."""

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        self.decay = spec.decay

    def place(self, x: Tensor, d: Tensor) -> Tensor:
        return x + self.decay * self.step_size * d
