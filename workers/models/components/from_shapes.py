"""Parameters of K members from a list of shapes, for models that are no plain chains of layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from workers.data.random_streams import Seeds
from workers.models.components.stack import Stack


class Parameter(NamedTuple):
    """A leaf [K, *shape], which starts at `start` + U(±bound)."""

    shape: tuple[int, int]
    bound: float = 0.0
    start: float = 0.0


def linear(i: int, o: int) -> list[Parameter]:
    """Weight and bias of a dense layer, both from U(±1/√in) as in torch.nn.Linear."""
    return [Parameter((i, o), i**-0.5), Parameter((1, o), i**-0.5)]


def stacked(parameters: Sequence[Parameter], seeds: Seeds, stream: str, scalars: tuple[float, ...]) -> Stack:
    """All of them in one Stack, with `scalars` as its last leaves."""

    def one(generator: torch.Generator) -> Tensor:
        drawn = [
            (torch.rand(math.prod(shape), generator=generator) * 2 - 1) * bound + start
            for shape, bound, start in parameters
        ]
        return torch.cat([*drawn, torch.tensor(scalars)])  # [P]

    shapes = [parameter.shape for parameter in parameters] + [(1, 1)] * len(scalars)
    return Stack(seeds.spread(seeds.draw(stream, one)).clone(memory_format=torch.contiguous_format), shapes)
