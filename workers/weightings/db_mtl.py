"""DB-MTL: "Dual-Balancing for Multi-Task Learning" (Lin et al. 2023)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from service.contract.methods.weightings import DbMtl as Spec
from workers.weightings import Setting, Weighting

TINY = 1e-8  # a loss or a length that nothing is divided by, as in the authors' program


class DbMtl(Weighting):
    """The update is Σ_i α_i ĝ_i, α_i = max_j ‖ĝ_j‖/‖ĝ_i‖, with ĝ_i ← b ĝ_i + (1 − b) g_i/ℓ_i the averaged gradient of
    log ℓ_i and b = β/t^σ, from ĝ = 0.

    It is told as w_i = α_i/ℓ_i on ℓ_i ĝ_i, so that without an average the weights are those of g_i.
    """

    needs_gram = True
    own_gram = True
    own_direction = True
    remembers = ("_average", "_steps")

    def __init__(self, params: Sequence[Spec], setting: Setting) -> None:
        def each(value: Callable[[Spec], float]) -> Tensor:
            return torch.tensor([[[float(value(p))]] for p in params], device=setting.device)  # [m, 1, 1]

        self._decay, self._fading = each(lambda p: p.decay), each(lambda p: p.fading)
        self._average: Tensor | None = None  # ĝ, [m, n, P]
        self._steps = 0

    def gram(self, g: Tensor, half: Tensor | None = None) -> Tensor:
        self._gradients = g
        return torch.bmm(g, g.mT)

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        g = self._gradients
        self._steps += 1
        self._scale = torch.where(losses > 0, losses + TINY, torch.nan)[:, :, None].to(g)  # log ℓ needs ℓ > 0
        before = torch.zeros_like(g) if self._average is None else self._average
        keep = (self._decay / self._steps**self._fading).to(g)
        self._average = torch.lerp(g / self._scale, before, keep)
        length = torch.linalg.vector_norm(self._average, dim=2)  # [m, n]
        alpha: Tensor = length.amax(1, keepdim=True) / (length + TINY)
        return (alpha / self._scale[:, :, 0]).to(losses)

    def direction(self, g: Tensor) -> Tensor:
        return g if self._average is None else self._average * self._scale
