"""Adam whose members have decays of their own, stacked."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from workers.optimizers.adam import Adam
from workers.optimizers.stacking.stacked import per_member


class VariedAdam(Adam):
    """Adam with η, β₁ and β₂ of each member's own; where all share both decays, Adam itself is faster."""

    def __init__(
        self,
        parameters: Sequence[Tensor],
        learning_rate: Tensor,
        beta1: Tensor,
        beta2: Tensor,
        paces: Sequence[Tensor | None] = (),
    ) -> None:
        super().__init__(parameters, learning_rate, paces)
        self._betas = beta1.double(), beta2.double()  # [K]
        self._old = [per_member(beta, parameters) for beta in (beta1, beta2)]
        self._new = [per_member(1 - beta, parameters) for beta in (beta1, beta2)]

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor]) -> None:
        self._t += 1
        g, scratch = list(gradients), self._scratch
        torch._foreach_mul_(self._m, self._old[0])
        torch._foreach_addcmul_(self._m, g, self._new[0])
        torch._foreach_copy_(scratch, g)
        torch._foreach_mul_(scratch, g)
        torch._foreach_mul_(self._v, self._old[1])
        torch._foreach_addcmul_(self._v, scratch, self._new[1])
        first, second = (1 - beta**self._t for beta in self._betas)  # 1 − βᵗ, [K]
        c = second.sqrt()  # as in Adam
        torch._foreach_copy_(scratch, self._v)
        torch._foreach_sqrt_(scratch)
        torch._foreach_add_(scratch, per_member((self.epsilon * c).to(self._learning_rate), self._parameters))
        for m, r in zip(self._m, scratch, strict=True):
            torch.div(m, r, out=r)
        torch._foreach_mul_(scratch, per_member((-c / first).to(self._learning_rate), self._parameters))
        torch._foreach_addcmul_(self._parameters, self._rates, scratch)
