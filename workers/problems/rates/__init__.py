"""Rates: how a code is made from the encoder's outputs, and its cost. `rates.<name>` holds a class `Rate`."""

from __future__ import annotations

import importlib
from typing import NamedTuple, Protocol

from torch import Tensor


class Code(NamedTuple):
    """A Gaussian code N(mean, diag(scale²)) per example: both [K, B, latent]."""

    mean: Tensor
    scale: Tensor


class Rate(Protocol):
    def outputs(self, latent: int) -> int: ...  # encoder outputs that a code of this size takes

    def code(self, s: tuple[Tensor, ...]) -> Code: ...

    def sample(self, code: Code, noise: Tensor) -> Tensor: ...  # [K, B, latent]

    def nats(self, code: Code) -> Tensor: ...  # [K, B]


def build(name: str) -> Rate:
    """The rate that a bottleneck names."""
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    rate: Rate = module.Rate()
    return rate
