"""Rates: how a code is made from the encoder's outputs, and its cost. `rates.<name>` holds a class `Rate`."""

from __future__ import annotations

import importlib
from typing import Protocol

import torch
from torch import Tensor

from workers.models.components.latent_code import Code


class Rate(Protocol):
    separable: bool  # whether an example's rate does not depend on the others of its batch
    scalars: tuple[float, ...]  # first values of numbers trained with the encoder; they follow its outputs in s

    def outputs(self, latent: int) -> int: ...  # encoder outputs that a code of this size takes

    def code(self, s: tuple[Tensor, ...]) -> Code: ...

    def sample(self, code: Code, noise: Tensor) -> Tensor: ...  # [K, B, latent]

    def nats(self, code: Code) -> Tensor: ...  # [K, B]: what training pays


def kl_to_prior(code: Code) -> Tensor:
    """KL(N(μ, σ²) ‖ N(0, I)) = Σ_d ½(μ² + σ² − 1) − ln σ: [K, B]. Infinite for a code without noise.

    A sum over latent dimensions: a mean would rescale β by 1/latent.
    """
    squares = torch.addcmul(code.mean.square(), code.scale, code.scale)
    return (0.5 * (squares - 1) - code.scale.log()).sum(-1)


def build(name: str) -> Rate:
    """The rate that a bottleneck names."""
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    rate: Rate = module.Rate()
    return rate
