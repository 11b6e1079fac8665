"""What optimisers of K members have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from workers.state import Remembering


class Optimizer(Remembering, Protocol):
    def step(self, gradients: Sequence[Tensor]) -> None: ...  # changes the parameters in place


def per_member(values: Tensor, parameters: Sequence[Tensor]) -> list[Tensor]:
    """Values [K] so that they broadcast with each parameter: [K, 1, …]."""
    return [values.view(-1, *[1] * (p.dim() - 1)) for p in parameters]
