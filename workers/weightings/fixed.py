"""The manual grid."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from service.contract.weightings import Fixed as Spec
from workers.weightings import Setting


class Fixed:
    """w = (1, β): β on the second term; for the bottleneck the information, in nats summed over latent dimensions."""

    needs_gram = False

    def __init__(self, params: Sequence[Spec], setting: Setting) -> None:
        self._w = torch.tensor([[1.0, p.beta] for p in params], device=setting.device)  # [m, 2]

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        return self._w
