"""MGB, gradient balancing: the main term's gradient, changed only where it conflicts with an auxiliary's."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from service.contract.methods.weightings import Mgb as Spec
from workers.weightings import Setting, Weighting
from workers.weightings.solving.pivoting import pivoted, unit


class Mgb(Weighting):
    """min ½‖g_main − x‖² subject to <g_k, x> ≥ 0; x = g_main + Σ γ_k g_k, so w = (1, γ).

    γ = argmin_{γ ≥ 0} ½ γᵀAγ + γᵀb with A the Gram matrix of the auxiliaries, b_k = <g_k, g_main>. The paper's
    eq. 12 leaves γ ≥ 0 out and would also remove what does not conflict.
    """

    needs_gram = True

    def __init__(self, params: Sequence[Spec], setting: Setting) -> None:
        pass

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        if gram is None:
            raise ValueError("mgb needs the Gram matrix of the gradients")
        a, length = unit(gram)  # [m, n, n], [m, n]
        gamma = dual(a[:, 1:, 1:], a[:, 1:, 0]) * length[:, :1] / length[:, 1:]
        return torch.cat((torch.ones_like(losses[:, :1]), gamma.to(losses)), dim=1)


def dual(a: Tensor, b: Tensor) -> Tensor:
    """argmin_{γ ≥ 0} ½ γᵀAγ + γᵀb, for A of unit diagonal: [m, K, K], [m, K] -> [m, K]."""
    return (-b).clamp_min(0) if a.shape[1] <= 1 else pivoted(a, b)
