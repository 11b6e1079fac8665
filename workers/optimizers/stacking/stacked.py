"""What optimisers of K members have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from workers.state import Remembering


class Optimizer(Remembering, Protocol):
    def step(self, gradients: Sequence[Tensor]) -> None: ...  # changes the parameters in place
    def set_pace(
        self, factor: Tensor
    ) -> None: ...  # from now on so many times the learning rates it was built with, [K]


def per_member(values: Tensor, parameters: Sequence[Tensor]) -> list[Tensor]:
    """Values [K] so that they broadcast with each parameter: [K, 1, …]."""
    return [values.view(-1, *[1] * (p.dim() - 1)) for p in parameters]


def paced(learning_rate: Tensor, parameters: Sequence[Tensor], paces: Sequence[Tensor | None]) -> list[Tensor]:
    """The rates of each parameter's elements: those of the members, times the parameter's own pace where it has one."""
    rates = per_member(learning_rate, parameters)
    known = zip(rates, paces or [None] * len(rates), strict=True)
    return [rate if pace is None else rate * pace for rate, pace in known]
