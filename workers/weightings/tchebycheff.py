"""Tchebycheff scalarisation: "On the relationship of the Tchebycheff norm and the efficient frontier" (Bowman 1976)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from service.contract.methods.weightings import Tchebycheff as Spec
from workers.weightings import Setting, Weighting


class Tchebycheff(Weighting):
    """A subgradient of max_i λ_i ℓ_i: λ_i for the largest of them, in equal parts where several are, 0 elsewhere."""

    needs_gram = False

    def __init__(self, params: Sequence[Spec], setting: Setting) -> None:
        n = len(setting.terms)
        others = [1 / n if p.preference == "equal" else p.preference / (n - 1) for p in params]
        rows = [[1 - (n - 1) * other] + [other] * (n - 1) for other in others]
        self._preference = torch.tensor(rows, device=setting.device)  # λ [m, n]

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        weighed = self._preference * losses
        largest = (weighed == weighed.amax(1, keepdim=True)).to(losses)
        return torch.where(losses.isfinite(), self._preference * largest / largest.sum(1, keepdim=True), losses)
