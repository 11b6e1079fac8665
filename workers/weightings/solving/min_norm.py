"""The point of smallest norm in the convex hull of n gradients: w* = argmin_{w in simplex} wᵀ G w."""

from __future__ import annotations

import torch
from torch import Tensor

from workers.weightings.solving.pivoting import pivoted, unit

PAPER_STEPS = 100  # 2/(t+2) steps leave an error of up to about 2/t in w


def exact(gram: Tensor) -> Tensor:
    """Closed form for two terms, pivoting for more: [m, n, n] -> [m, n].

    At the minimum, with x = Σ w_i g_i, G w ≥ ‖x‖² with equality where w_i > 0, so u = w/‖x‖² is
    argmin_{u ≥ 0} ½ uᵀGu − Σu, and w = u/Σu.
    With unit gradients the unknowns are γ_i = ‖g_i‖ u_i.
    """
    if gram.shape[-1] == 2:
        return two_terms(gram)
    a, length = unit(gram)
    u = pivoted(a, -length.amin(1, keepdim=True) / length) / length
    return (u / u.sum(1, keepdim=True)).to(gram)


def two_terms(gram: Tensor) -> Tensor:
    """w_1 = clip(<g_2, g_2 − g_1> / ‖g_1 − g_2‖², 0, 1), one half where the gradients are equal."""
    a, b, c = gram[:, 0, 0], gram[:, 0, 1], gram[:, 1, 1]
    distance = a + c - 2 * b
    w = torch.where(distance > 0, (c - b) / distance, 0.5).clamp(0, 1)
    return torch.stack((w, 1 - w), dim=1)


def paper_steps(gram: Tensor, steps: int = PAPER_STEPS) -> Tensor:
    """Frank–Wolfe with γ_t = 2/(t+2), as in the MIB paper."""
    w = torch.full_like(gram[:, 0], 1 / gram.shape[1])
    for t in range(steps):
        gamma = 2 / (t + 2)
        j = torch.einsum("mij,mj->mi", gram, w).argmin(1, keepdim=True)
        w = (w * (1 - gamma)).scatter_add(1, j, torch.full_like(w[:, :1], gamma))
    return w
