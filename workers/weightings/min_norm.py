"""The point of smallest norm in the convex hull of n gradients: w* = argmin_{w in simplex} wᵀ G w."""

from __future__ import annotations

import torch
from torch import Tensor

LINE_SEARCH_STEPS = 100
PAPER_STEPS = 100  # 2/(t+2) steps leave an error of up to about 2/t in w


def exact(gram: Tensor) -> Tensor:
    """Closed form for two terms, Frank–Wolfe with exact line search for more: [m, n, n] -> [m, n]."""
    return two_terms(gram) if gram.shape[-1] == 2 else line_search(gram)


def two_terms(gram: Tensor) -> Tensor:
    """w_1 = clip(<g_2, g_2 − g_1> / ‖g_1 − g_2‖², 0, 1), one half where the gradients are equal."""
    a, b, c = gram[:, 0, 0], gram[:, 0, 1], gram[:, 1, 1]
    distance = a + c - 2 * b
    w = torch.where(distance > 0, (c - b) / distance, 0.5).clamp(0, 1)
    return torch.stack((w, 1 - w), dim=1)


def line_search(gram: Tensor, steps: int = LINE_SEARCH_STEPS) -> Tensor:
    """Frank–Wolfe; the step to vertex e_j minimises the norm: γ = <w, G(w − e_j)> / ‖w − e_j‖²_G."""
    w, rows = _centre(gram)
    for _ in range(steps):
        slope = torch.einsum("mij,mj->mi", gram, w)  # [m, n]
        j = slope.argmin(1)
        here, across, there = (w * slope).sum(1), slope[rows, j], gram[rows, j, j]
        curvature = here - 2 * across + there
        gamma = torch.where(curvature > 0, (here - across) / curvature, 0.0).clamp(0, 1)
        w = _toward(w, j, gamma)
    return w


def paper_steps(gram: Tensor, steps: int = PAPER_STEPS) -> Tensor:
    """Frank–Wolfe with γ_t = 2/(t+2), as in the MIB paper."""
    w, _ = _centre(gram)
    for t in range(steps):
        j = torch.einsum("mij,mj->mi", gram, w).argmin(1)
        w = _toward(w, j, torch.full_like(w[:, 0], 2 / (t + 2)))
    return w


def _centre(gram: Tensor) -> tuple[Tensor, Tensor]:
    m, n, _ = gram.shape
    return gram.new_full((m, n), 1 / n), torch.arange(m, device=gram.device)


def _toward(w: Tensor, j: Tensor, gamma: Tensor) -> Tensor:
    """(1 − γ) w + γ e_j."""
    stepped = w * (1 - gamma)[:, None]
    return stepped.scatter_add(1, j[:, None], gamma[:, None])
