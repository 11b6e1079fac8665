"""Stacked ReLU multi-layer perceptrons."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor

from service.contract.models import Mlp as Spec
from workers.data.streams import Seeds
from workers.models import Sizes
from workers.models.stack import Stack


class Mlp:
    """Encoder features → widths → outputs and head latent → head → classes, for K members at once.

    Each layer is x W + b with W [K, in, out], b [K, 1, out], both from U(±1/√in) as in torch.nn.Linear.
    """

    def __init__(self, spec: Spec, sizes: Sizes, seeds: Seeds) -> None:
        self.encoder = layers([sizes.features, *spec.widths, sizes.outputs], seeds, "init/encoder", sizes.scalars)
        self._weights = len(self.encoder.leaves) - len(sizes.scalars)
        self.head = layers([sizes.latent, *spec.head, sizes.classes], seeds, "init/head")

    def train(self, on: bool) -> None:
        """Nothing: the model computes the same in training and evaluation."""

    def encode(self, x: Tensor) -> tuple[Tensor, ...]:
        leaves = self.encoder.leaves
        return (forward(leaves[: self._weights], x), *leaves[self._weights :])

    def decode(self, z: Tensor) -> Tensor:
        return forward(self.head.leaves, z)


def layers(widths: Sequence[int], seeds: Seeds, stream: str, scalars: tuple[float, ...] = ()) -> Stack:
    ends = list(itertools.pairwise(widths))
    shapes = [shape for i, o in ends for shape in ((i, o), (1, o))] + [(1, 1)] * len(scalars)

    def one(generator: torch.Generator) -> Tensor:
        drawn = [(torch.rand((i + 1) * o, generator=generator) * 2 - 1) * i**-0.5 for i, o in ends]
        return torch.cat([*drawn, torch.tensor(scalars)])  # [P]

    return Stack(seeds.spread(seeds.draw(stream, one)).clone(memory_format=torch.contiguous_format), shapes)


def forward(leaves: Sequence[Tensor], x: Tensor) -> Tensor:
    for i in range(0, len(leaves), 2):
        x = torch.baddbmm(leaves[i + 1], x.relu() if i else x, leaves[i])  # [K, B, out]
    return x
