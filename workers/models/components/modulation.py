"""Layers that are scaled and shifted by what a model is told with each example: a β, or a preference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from workers.data.random_streams import Seeds
from workers.models.components.layers import Gates, forward, layers, named
from workers.models.components.stack import Stack

ALL = slice(None)
FEATURES = 3  # t, t² and sin 3t of each number that is told
LEAVES = 4  # two dense layers


class Told(NamedTuple):
    """How a model is told something: so many numbers t in [−1, 1], through so many hidden units."""

    numbers: int
    width: int
    encoder: bool = True
    decoder: bool = True


class Modulation:
    """y ← y(1 + a) + b for layers of given sizes, with all a and b from one perceptron of (t, t², sin 3t)."""

    def __init__(self, told: Told, sizes: Sequence[int], seeds: Seeds, part: str) -> None:
        self._sizes, self._part = list(sizes), part
        widths = [FEATURES * told.numbers, told.width, 2 * sum(sizes)]
        self.stack = layers(widths, seeds, f"init/modulation/{part}")
        self._features: Tensor | None = None

    @property
    def _leaves(self) -> Sequence[Tensor]:
        """The last ones of the stack that its parameters are in."""
        return self.stack.leaves[-LEAVES:]

    def condition(self, t: Tensor) -> None:
        """What holds from now on: t [K, G, numbers], each for one of G equal shares of the examples."""
        self._features = torch.cat([t, t.square(), torch.sin(3 * t)], dim=-1)

    def __call__(self, rows: slice = ALL) -> Gates:
        """(a, b) of each layer, each [K, G, size]; of the given rows, where every example is told its own."""
        if self._features is None:
            raise ValueError(f"the {self._part} was told nothing: condition the model first")
        features = self._features if self._features.shape[1] == 1 else self._features[:, rows]
        both = forward(self._leaves, features).split([size for size in self._sizes for _ in range(2)], dim=-1)
        return list(zip(both[::2], both[1::2], strict=True))

    def named(self) -> dict[str, Tensor]:
        return named(self._leaves, f"modulation.{self._part}")


def joined(stack: Stack, modulation: Modulation | None) -> Stack:
    """A stack with the leaves of a modulation after its own, one buffer for both."""
    if modulation is None:
        return stack
    shapes = [tuple(leaf.shape[1:]) for each in (stack, modulation.stack) for leaf in each.leaves]
    modulation.stack = Stack(torch.cat([stack.flat, modulation.stack.flat], dim=1), shapes)
    return modulation.stack
