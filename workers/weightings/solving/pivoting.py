"""Small quadratic programs over γ ≥ 0, many at once: argmin ½ γᵀAγ + γᵀb."""

from __future__ import annotations

import torch
from torch import Tensor

TOLERANCE = 1e-10  # of the largest γ: a sign counts as wrong from here on
TRIES = 3  # whole exchanges that may fail to help before single ones
SHORTEST = 1e-8  # of the longest gradient: what is shorter counts as this long
RIDGE = 1e-10  # of gradients of length one: keeps A regular where gradients depend on each other


def unit(gram: Tensor) -> tuple[Tensor, Tensor]:
    """The Gram matrix of g_i/‖g_i‖ in double precision, with a ridge above its rounding, and the lengths ‖g_i‖:
    [m, n, n] -> [m, n, n], [m, n].
    """
    length = gram.double().diagonal(dim1=1, dim2=2).clamp_min(0).sqrt()
    longest = length.amax(1, keepdim=True)
    length = torch.where(longest > 0, torch.maximum(length, SHORTEST * longest), 1.0)
    n = gram.shape[1]
    ridge = max(RIDGE, n * torch.finfo(gram.dtype).eps)
    return gram.double() / (length[:, :, None] * length[:, None, :]) + ridge * torch.eye(n).to(length), length


def pivoted(a: Tensor, b: Tensor) -> Tensor:
    """Block principal pivoting (Júdice & Pires 1994): free are those with γ_k > 0, the others have slope y_k ≥ 0.

    Wrong ones change sides, all at once until that has failed to help TRIES times, then the last alone.
    A is positive definite with a diagonal near 1: [m, K, K], [m, K] -> [m, K].
    """
    m, size = b.shape
    free = b < 0
    fewest, tries = b.new_full((m,), size + 1), b.new_full((m,), TRIES)
    index = torch.arange(size, device=b.device)
    for _ in range(10 * size + 100):
        gamma = _solve(a, b, free)
        slope = torch.einsum("mij,mj->mi", a, gamma) + b
        least = -TOLERANCE * torch.maximum(gamma.abs(), b.abs()).amax(1, keepdim=True)
        wrong = torch.where(free, gamma < least, slope < least)  # [m, K]
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
