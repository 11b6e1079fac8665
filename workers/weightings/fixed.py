"""The manual grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from service.contract.weightings import Fixed as Spec
from workers.weightings import Setting, Weighting


class Fixed(Weighting):
    """w constant: β on the second term (for the bottleneck the information, in nats summed over latent dimensions),
    or as named by the terms; 1 where nothing is said."""

    needs_gram = False

    def __init__(self, params: Sequence[Spec], setting: Setting) -> None:
        named: list[dict[str, Any]] = [{**dict.fromkeys(setting.terms[1:2], p.beta), **p.weights} for p in params]
        rows = [[1.0 if w.get(term) is None else float(w[term]) for term in setting.terms] for w in named]
        self._w = torch.tensor(rows, device=setting.device)  # [m, n]

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        return self._w
