"""Adam, stacked."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from workers.optimizers.stacking.stacked import Optimizer, paced


class Adam(Optimizer):
    """Adam (Kingma & Ba 2015): θ ← θ − η m̂ / (√v̂ + ε), with one η per member, β₁ and β₂ for all, and ε 1e-8.

    A parameter with a pace has so many times η.
    """

    epsilon = 1e-8
    remembers = ("_m", "_v", "_t")

    def __init__(
        self,
        parameters: Sequence[Tensor],
        learning_rate: Tensor,
        paces: Sequence[Tensor | None] = (),
        beta1: float = 0.9,
        beta2: float = 0.999,
    ) -> None:
        self.beta1, self.beta2 = beta1, beta2
        self._parameters = list(parameters)
        self._learning_rate, self._paces = learning_rate, paces
        self._rates = paced(learning_rate, self._parameters, paces)
        self._m = [torch.zeros_like(p) for p in parameters]
        self._v = [torch.zeros_like(p) for p in parameters]
        self._scratch = [torch.empty_like(p) for p in parameters]
        self._t = 0

    def set_pace(self, factor: Tensor) -> None:
        self._rates = paced(self._learning_rate * factor, self._parameters, self._paces)

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor]) -> None:
        self._t += 1
        g = list(gradients)
        torch._foreach_lerp_(self._m, g, 1 - self.beta1)
        torch._foreach_mul_(self._v, self.beta2)
        torch._foreach_addcmul_(self._v, g, g, 1 - self.beta2)
        # √v̂ + ε = (√v + ε c) / c with c = √(1 − β₂ᵗ): c joins the scalar factor of the step.
        c = (1 - self.beta2**self._t) ** 0.5
        ratio = self._scratch
        torch._foreach_copy_(ratio, self._v)
        torch._foreach_sqrt_(ratio)
        torch._foreach_add_(ratio, self.epsilon * c)
        for m, r in zip(self._m, ratio, strict=True):
            torch.div(m, r, out=r)
        torch._foreach_addcmul_(self._parameters, self._rates, ratio, -c / (1 - self.beta1**self._t))
