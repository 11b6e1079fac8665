"""Stacked dense layers: the part that every model has."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from workers.data.random_streams import Seeds
from workers.models.components.stack import Stack


class Activation(NamedTuple):
    """A function of hidden units with f(λx) = λ^c f(x) for λ > 0: what synaptic balance needs to know of it."""

    f: Callable[[Tensor], Tensor]
    c: float = 1.0


NARROW = 16  # columns
RELU = Activation(torch.relu)
ACTIVATIONS = {
    "relu": RELU,
    "leaky-relu": Activation(torch.nn.functional.leaky_relu),
    "linear": Activation(lambda x: x),
    "relu-squared": Activation(lambda x: x.relu().square(), 2.0),
}


def layers(widths: Sequence[int], seeds: Seeds, stream: str, scalars: tuple[float, ...] = ()) -> Stack:
    ends = list(itertools.pairwise(widths))
    shapes = [shape for i, o in ends for shape in ((i, o), (1, o))] + [(1, 1)] * len(scalars)

    def one(generator: torch.Generator) -> Tensor:
        drawn = [(torch.rand((i + 1) * o, generator=generator) * 2 - 1) * i**-0.5 for i, o in ends]
        return torch.cat([*drawn, torch.tensor(scalars)])  # [P]

    return Stack(seeds.spread(seeds.draw(stream, one)).clone(memory_format=torch.contiguous_format), shapes)


def named(leaves: Sequence[Tensor], prefix: str) -> dict[str, Tensor]:
    """Weights [K, out, in] and biases [K, out] as torch.nn.Linear has them: `prefix.0.weight`."""
    tensors: dict[str, Tensor] = {}
    for i in range(0, len(leaves), 2):
        tensors |= linear(leaves[i], leaves[i + 1], f"{prefix}.{i // 2}")
    return tensors


def linear(weight: Tensor, bias: Tensor, name: str) -> dict[str, Tensor]:
    return {f"{name}.weight": weight.detach().mT, f"{name}.bias": bias.detach()[:, 0]}


def scalars(leaves: Sequence[Tensor]) -> dict[str, Tensor]:
    """The numbers that train with an encoder: [K] each."""
    return {f"encoder.scalar.{i}": leaf.detach()[:, 0, 0] for i, leaf in enumerate(leaves)}


Gates = Sequence[tuple[Tensor, Tensor]]  # a scale and a shift of each layer's outputs


def forward(leaves: Sequence[Tensor], x: Tensor, activation: Activation = RELU, gates: Gates = ()) -> Tensor:
    for i in range(0, len(leaves), 2):
        x = _affine(activation.f(x) if i else x, leaves[i], leaves[i + 1])  # [K, B, out]
        x = modulated(x, *gates[i // 2]) if gates else x
    return x


def _affine(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """x W + b, as (Wᵀ xᵀ + bᵀ)ᵀ where W is narrow: with few columns the product is several times slower."""
    if weight.shape[-1] < NARROW:
        return torch.baddbmm(bias.mT, weight.mT, x.mT).mT
    return torch.baddbmm(bias, x, weight)


def modulated(y: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    """y·scale + shift of y [K, B, size]; with scales and shifts [K, G, size] each of G equal shares of the examples has
    its own."""
    if scale.shape[1] in (1, y.shape[1]):
        return torch.addcmul(shift, y, scale)
    shares = y.unflatten(1, (scale.shape[1], -1))
    return torch.addcmul(shift[:, :, None], shares, scale[:, :, None]).flatten(1, 2)
