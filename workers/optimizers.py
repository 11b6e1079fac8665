"""Stacked optimisers on torch._foreach_*: torch.optim has one learning rate for all and loads for seconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import torch
from torch import Tensor


class Optimizer(Protocol):
    def step(self, gradients: Sequence[Tensor]) -> None: ...  # changes the parameters in place


class Adam:
    """Adam (Kingma & Ba 2015): θ ← θ − η m̂ / (√v̂ + ε), with one η per member. β₁ 0.9, β₂ 0.999, ε 1e-8."""

    beta1, beta2, epsilon = 0.9, 0.999, 1e-8

    def __init__(self, parameters: Sequence[Tensor], learning_rate: Tensor) -> None:
        self._parameters = list(parameters)
        self._rates = _per_member(learning_rate, parameters)
        self._m = [torch.zeros_like(p) for p in parameters]
        self._v = [torch.zeros_like(p) for p in parameters]
        self._scratch = [torch.empty_like(p) for p in parameters]
        self._t = 0

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


class Sgd:
    """θ ← θ − η g, plain, with one η per member."""

    def __init__(self, parameters: Sequence[Tensor], learning_rate: Tensor) -> None:
        self._parameters = list(parameters)
        self._rates = _per_member(-learning_rate, parameters)

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor]) -> None:
        torch._foreach_addcmul_(self._parameters, self._rates, list(gradients))


class Regularized:
    """Descends along g + l1·sign(θ) + l2·θ, with one l1 and l2 per member: the loss with l1·Σ|θ| + l2/2·Σθ² added."""

    def __init__(self, optimizer: Optimizer, parameters: Sequence[Tensor], l1: Tensor, l2: Tensor) -> None:
        self._optimizer = optimizer
        self._parameters = list(parameters)
        self._l1, self._l2 = _per_member(l1, parameters), _per_member(l2, parameters)

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor]) -> None:
        terms = zip(gradients, self._parameters, self._l1, self._l2, strict=True)
        self._optimizer.step([g.addcmul(p.sign(), l1).addcmul_(p, l2) for g, p, l1, l2 in terms])


def build(
    name: Literal["adam", "sgd"],
    parameters: Sequence[Tensor],
    learning_rate: Tensor,
    l1: Tensor | None = None,
    l2: Tensor | None = None,
) -> Optimizer:
    """The optimiser of a cohort: parameters [K, …], learning rates and regularisers [K]."""
    plain = Adam(parameters, learning_rate) if name == "adam" else Sgd(parameters, learning_rate)
    none = torch.zeros_like(learning_rate)
    l1, l2 = (none if value is None else value for value in (l1, l2))
    return Regularized(plain, parameters, l1, l2) if bool((l1 + l2).any()) else plain


def _per_member(values: Tensor, parameters: Sequence[Tensor]) -> list[Tensor]:
    return [values.view(-1, *[1] * (p.dim() - 1)) for p in parameters]  # [K, 1, …]
