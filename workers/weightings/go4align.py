"""GO4Align: "Group Optimization for Multi-Task Alignment" (Shen et al. 2024), as the authors' program has it."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from service.contract.methods.weightings import Go4align as Spec
from workers.weightings import Setting, Weighting
from workers.weightings.solving.grouping import group_means


class Go4align(Weighting):
    """w_i is the mean of γ over the group of i: γ_i = p_i Σ_j ℓ_j/ℓ_i, p ← p exp(−η ℓ) normalised, from p = 1/n.

    The groups are the best k-means of γ, found exactly: numbers on a line are grouped in their order.
    """

    needs_gram = False
    remembers = ("_logits",)

    def __init__(self, params: Sequence[Spec], setting: Setting) -> None:
        def column(values: list[float]) -> Tensor:
            return torch.tensor(values, device=setting.device, dtype=torch.float64)[:, None]  # [m, 1]

        n = len(setting.terms)
        self._groups = torch.tensor([min(p.groups, n) for p in params], device=setting.device)
        self._step = column([p.step_size for p in params])
        self._logits = column([0.0] * len(params)).repeat(1, n)  # ln p up to a constant, [m, n]

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        seen = losses.double()
        self._logits = torch.log_softmax(self._logits - self._step * seen, dim=1)
        gamma = self._logits.exp() * seen.sum(1, keepdim=True) / seen
        return group_means(gamma, self._groups).to(losses)
