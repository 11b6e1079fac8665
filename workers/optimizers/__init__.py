"""Stacked optimisers on torch._foreach_*: torch.optim has one learning rate for all and loads for seconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from workers.optimizers.adam import Adam
from workers.optimizers.sgd import Sgd
from workers.optimizers.stacking.regularized import Regularized
from workers.optimizers.stacking.stacked import Optimizer


def build(
    name: Literal["adam", "sgd"],
    parameters: Sequence[Tensor],
    learning_rate: Tensor,
    l1: Tensor | None = None,
    l2: Tensor | None = None,
    paces: Sequence[Tensor | None] = (),
) -> Optimizer:
    """The optimiser of a cohort: parameters [K, …], learning rates and regularisers [K], paces [P] for Adam.

    Plain descent has none: its steps already grow with the gradients of parameters that much depends on.
    """
    plain = Adam(parameters, learning_rate, paces) if name == "adam" else Sgd(parameters, learning_rate)
    none = torch.zeros_like(learning_rate)
    l1, l2 = (none if value is None else value for value in (l1, l2))
    return Regularized(plain, parameters, l1, l2) if bool((l1 + l2).any()) else plain
