"""MGB, gradient balancing: the main term's gradient, changed only where it conflicts with an auxiliary's."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from service.contract.methods.weightings import Mgb as Spec
from workers.weightings import Setting, Weighting

RIDGE = 1e-7  # of gradients of length one: about the rounding of a Gram matrix in single precision
TOLERANCE = 1e-8  # a constraint counts as broken from here on
TRIES = 3  # whole exchanges that may fail to help before single ones


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
        length = gram.double().diagonal(dim1=1, dim2=2).clamp_min(0).sqrt()
        length = torch.where(length > 0, length, 1.0)  # [m, n]
        unit = gram.double() / (length[:, :, None] * length[:, None, :])  # the Gram matrix of g_i/‖g_i‖
        gamma = dual(unit[:, 1:, 1:], unit[:, 1:, 0]) * length[:, :1] / length[:, 1:]
        return torch.cat((torch.ones_like(losses[:, :1]), gamma.to(losses)), dim=1)


def dual(a: Tensor, b: Tensor) -> Tensor:
    """argmin_{γ ≥ 0} ½ γᵀAγ + γᵀb, for A of unit diagonal: [m, K, K], [m, K] -> [m, K]."""
    if a.shape[1] <= 1:
        return (-b).clamp_min(0)
    return pivoted(a + RIDGE * torch.eye(a.shape[1]).to(a), b)


def pivoted(a: Tensor, b: Tensor) -> Tensor:
    """Block principal pivoting (Júdice & Pires 1994): free are those with γ_k > 0, the others have slope y_k ≥ 0.

    Wrong ones change sides, all at once while that leaves fewer of them, else the last alone, which always ends.
    """
    m, size = b.shape
    free = b < 0
    fewest, tries = b.new_full((m,), size + 1), b.new_full((m,), TRIES)
    index = torch.arange(size, device=b.device)
    for _ in range(10 * size + 100):
        gamma = _solve(a, b, free)
        slope = torch.einsum("mij,mj->mi", a, gamma) + b
        wrong = torch.where(free, gamma < -TOLERANCE, slope < -TOLERANCE)  # [m, K]
        count = wrong.sum(1)
        if not count.any():
            break
        better = count < fewest
        tries = torch.where(better, TRIES, tries - 1)
        fewest = torch.minimum(fewest, count)
        last = index == torch.where(wrong, index, -1).amax(1, keepdim=True)
        free = free ^ (wrong & (last | (tries >= 0)[:, None]))
    return gamma.clamp_min(0)


def _solve(a: Tensor, b: Tensor, free: Tensor) -> Tensor:
    """A γ = −b among the free, 0 elsewhere."""
    both = free[:, :, None] & free[:, None, :]
    system = torch.where(both, a, torch.eye(a.shape[1]).to(a))
    # No check: a member without numbers must not stop the others.
    solved: Tensor = torch.linalg.solve_ex(system, torch.where(free, -b, 0.0), check_errors=False).result
    return solved
