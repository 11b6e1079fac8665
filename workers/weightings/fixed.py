"""The manual grid."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from service.contract.methods.weightings import Fixed as Spec
from workers.weightings import Setting, Weighting


class Fixed(Weighting):
    """w constant: β on the second term (for the bottleneck the information, in nats summed over latent dimensions),
    or as named by the terms; 1 where nothing is said."""

    needs_gram = False

    def __init__(self, params: Sequence[Spec], setting: Setting) -> None:
        betas = [{} if p.beta is None else dict.fromkeys(setting.terms[1:2], p.beta) for p in params]
        named = [{**beta, **p.weights} for beta, p in zip(betas, params, strict=True)]
        rows = [[weights.get(term, 1.0) for term in setting.terms] for weights in named]
        self._w = torch.tensor(rows, device=setting.device)  # [m, n]

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        return self._w
