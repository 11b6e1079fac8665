"""ConFIG: "Towards Conflict-free Training of Physics Informed Neural Networks" (Liu et al. 2025)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from service.contract.methods.weightings import Config as Spec
from workers.weightings import Setting, Weighting

SMALLEST = 1e-6  # of the largest eigenvalue: what is smaller is rounding of single precision, and has no inverse


class Config(Weighting):
    """Eq. 2: the update is (Σ_i <g_i, x>) x with x = U⁺v/‖U⁺v‖, U the gradients of length one [n, P], v the preference.

    U⁺v = Uᵀ(UUᵀ)⁺v, so that with C = UUᵀ the cosines and c = C⁺v all follows from the Gram matrix: U⁺v = Σ_i c_i u_i
    has the square vᵀC⁺v.
    """

    needs_gram = True

    def __init__(self, params: Sequence[Spec], setting: Setting) -> None:
        n = len(setting.terms)
        others = [1 / n if p.preference == "equal" else p.preference / (n - 1) for p in params]
        rows = [[1 - (n - 1) * other] + [other] * (n - 1) for other in others]
        self._v = torch.tensor(rows, device=setting.device, dtype=torch.float64)  # [m, n]

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        if gram is None:
            raise ValueError("config needs the Gram matrix of the gradients")
        gram = gram.double()
        length = gram.diagonal(dim1=1, dim2=2).clamp_min(0).sqrt()  # [m, n]
        inverse = torch.where(length > 0, 1 / length, 0.0)
        cosines = gram * inverse[:, :, None] * inverse[:, None, :]
        values, vectors = torch.linalg.eigh(cosines.nan_to_num())  # no error for a member without numbers
        kept = torch.where(values > SMALLEST * values[:, -1:], 1 / values, 0.0)
        c = torch.einsum("mij,mj,mkj,mk->mi", vectors, kept, vectors, self._v)  # C⁺v
        square = (self._v * c).sum(1, keepdim=True)
        w = c * inverse  # of U⁺v
        along = torch.einsum("mij,mj->m", gram, w)[:, None]  # Σ_i <g_i, U⁺v>
        return torch.where(square > 0, w * along / square, 0 * along).to(losses)
