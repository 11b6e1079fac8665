"""Multi-objective information bottleneck: "Exploring complex trade-offs in information bottleneck through
multi-objective optimization" (anonymous, under double-blind review), the MIB paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from service.contract.methods.weightings import Mib as Spec
from workers.weightings import Setting, Weighting
from workers.weightings.solving import min_norm

TINY = 1e-12  # a zero gradient or loss is not divided by


class Mib(Weighting):
    """Min-norm weights w*, a power w̃ = w*^p (not renormalised), then w̃_i (1 + softmax(w̃ ℓ/μ)_i) (eq. 14).

    The information term is first scaled by s (`info_scale`). `normalize` divides the gradients for the min-norm
    problem only; its weights multiply the gradients as they are, which on digits gave fewer bits for a larger scale
    throughout (multiplying the divided gradients did not). Returned weights belong to the unscaled terms, so that
    w_info / w_pred compares to β.
    """

    needs_gram = True

    def __init__(self, params: Sequence[Spec], setting: Setting) -> None:
        def column(value: Callable[[Spec], float | bool]) -> Tensor:
            return torch.tensor([[value(p)] for p in params], device=setting.device)  # [m, 1]

        self._scale = torch.ones(len(params), len(setting.terms), device=setting.device)  # [m, n]
        if "info" in setting.terms:  # the terms of other problems have scale 1
            self._scale[:, setting.terms.index("info")] = column(lambda p: _info_scale(p, setting.latent))[:, 0]
        self._by_norm = column(lambda p: p.normalize in ("l2", "loss+"))
        self._by_loss = column(lambda p: p.normalize in ("loss", "loss+"))
        self._automatic = column(lambda p: p.automatic)
        self._paper = column(lambda p: p.solver == "frank-wolfe")
        self._power = column(lambda p: float(p.power))
        self._smooth = column(lambda p: float(p.smoothing))
        self._mu = column(lambda p: p.mu)
        self._solvers = {p.solver for p in params}

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        if gram is None:
            raise ValueError("mib needs the Gram matrix of the gradients")
        scaled = losses * self._scale  # ℓ' [m, n]
        size = self._scale / self._length(scaled, gram)
        w = self._min_norm(gram * size[:, :, None] * size[:, None, :])  # w*
        w = torch.where(self._automatic, w, 1 / w.shape[1]).pow(self._power)  # w̃
        smooth = torch.softmax(w * scaled / self._mu, dim=1) * self._smooth
        return w * (1 + smooth) * self._scale

    def _length(self, scaled: Tensor, gram: Tensor) -> Tensor:
        """What each scaled gradient is divided by: [m, n]."""
        norm = gram.diagonal(dim1=1, dim2=2).clamp_min(0).sqrt() * self._scale
        by_norm = torch.where(self._by_norm & (norm > TINY), norm, 1.0)
        by_loss = torch.where(self._by_loss & (scaled.abs() > TINY), scaled.abs(), 1.0)
        return by_norm * by_loss

    def _min_norm(self, gram: Tensor) -> Tensor:
        if self._solvers == {"exact"}:
            return min_norm.exact(gram)
        if self._solvers == {"frank-wolfe"}:
            return min_norm.paper_steps(gram)
        return torch.where(self._paper, min_norm.paper_steps(gram), min_norm.exact(gram))


def _info_scale(params: Spec, latent: int) -> float:
    """`latent` is 0 where no size of the code is known, as in a user's problem: the sum is then left as it is."""
    if params.info_scale == "sum":
        return 1.0
    return 1 / max(latent, 1) if params.info_scale == "dimension" else params.info_scale
