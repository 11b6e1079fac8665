"""Dense layers of stacked members in one operation, of which vmap makes four."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

from workers.own_code.whole_stack import at_once, of_all


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """`F.linear` of rows [..., i] with weights [o, i] and a bias [o]; NotImplemented for anything else."""
    if bias is None or input.dim() < 2 or weight.dim() != 2 or not input.dtype == weight.dtype == bias.dtype:
        return NotImplemented
    whole = of_all(input, weight, bias)
    if whole is None:
        return NotImplemented
    return at_once(partial(_product, *whole))


def _product(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    """Of [K, ..., i], [K, o, i] and [K, o]: [K, ..., o]."""
    if x.dim() == 3:
        return torch.baddbmm(b[:, None], x, w.mT)
    rows: Tensor = torch.baddbmm(b[:, None], x.flatten(1, -2), w.mT).unflatten(1, x.shape[1:-1])
    return rows
