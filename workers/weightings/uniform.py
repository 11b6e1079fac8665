"""No weighting at all: the baseline of multi-task learning."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from service.contract.methods.weightings import Uniform as Spec
from workers.weightings import Setting, Weighting


class Uniform(Weighting):
    """w = (1, …, 1); for the bottleneck this is β = 1."""

    needs_gram = False

    def __init__(self, params: Sequence[Spec], setting: Setting) -> None:
        self._w = torch.ones(len(params), len(setting.terms), device=setting.device)  # [m, n]

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        return self._w
