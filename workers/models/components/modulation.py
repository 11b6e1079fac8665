"""Layers that are scaled and shifted by what a model is told with each example: a β, or a preference."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from workers.data.random_streams import Seeds
from workers.models.components.layers import Gates, forward, layers, named
from workers.models.components.stack import Stack

ALL = slice(None)
PACE = 16.0  # of a polynomial's coefficients: with as few of them as these, layers would follow β too slowly


class Told(NamedTuple):
    """How a model is told something: so many numbers t in [−1, 1], through so many hidden units, or none."""

    numbers: int
    width: int
    encoder: bool = True
    decoder: bool = True


class Modulation(ABC):
    """y ← y(1 + a) + b for layers of given sizes, with all a and b from one function of t."""

    def __init__(self, stack: Stack, sizes: Sequence[int], part: str) -> None:
        self.stack, self._own = stack, len(stack.leaves)
        self._split = [size for size in sizes for _ in range(2)]
        # Scales of 1 and shifts of 0, to which a and b are added: [1, 1, 2 Σ sizes].
        ends = [torch.full((size,), 1.0 - i % 2) for i, size in enumerate(self._split)]
        self._plain = torch.cat(ends).to(stack.flat)[None, None]
        self._part = part
        self._features: Tensor | None = None

    @property
    def _leaves(self) -> Sequence[Tensor]:
        """The last ones of the stack that its parameters are in."""
        return self.stack.leaves[-self._own :]

    def condition(self, t: Tensor) -> None:
        """What holds from now on: t [K, G, numbers], each for one of G equal shares of the examples."""
        self._features = self._features_of(t)

    def __call__(self, rows: slice = ALL) -> Gates:
        """(1 + a, b) of each layer, each [K, G, size]; of the given rows, where every example is told its own."""
        if self._features is None:
            raise ValueError(f"the {self._part} was told nothing: condition the model first")
        features = self._features if self._features.shape[1] == 1 else self._features[:, rows]
        both = self._gates(features).split(self._split, dim=-1)
        return list(zip(both[::2], both[1::2], strict=True))

    @abstractmethod
    def _features_of(self, t: Tensor) -> Tensor:
        """What the function reads of t: [K, G, features]."""

    @abstractmethod
    def _gates(self, features: Tensor) -> Tensor:
        """All 1 + a and b beside each other: [K, G, 2 Σ sizes]."""

    @abstractmethod
    def named(self) -> dict[str, Tensor]:
        """Its parameters, [K, …]."""


class Polynomial(Modulation):
    """a and b are quadratic in t: coefficients of 1, t and 2t² − 1, from 0 on, `PACE` times faster."""

    def __init__(self, told: Told, sizes: Sequence[int], seeds: Seeds, part: str) -> None:
        shape = (1 + 2 * told.numbers, 2 * sum(sizes))
        flat = torch.zeros(seeds.members, shape[0] * shape[1], device=seeds.device)
        super().__init__(Stack(flat, [shape], torch.full_like(flat[0], PACE)), sizes, part)

    def _features_of(self, t: Tensor) -> Tensor:
        return torch.cat([torch.ones_like(t[..., :1]), t, 2 * t.square() - 1], dim=-1)

    def _gates(self, features: Tensor) -> Tensor:
        return torch.baddbmm(self._plain.to(features), features, self._leaves[0])

    def named(self) -> dict[str, Tensor]:
        return {f"modulation.{self._part}.coefficients": self._leaves[0].detach()}


class Perceptron(Modulation):
    """a and b come from a perceptron of (t, t², sin 3t) with one hidden layer."""

    def __init__(self, told: Told, sizes: Sequence[int], seeds: Seeds, part: str) -> None:
        widths = [3 * told.numbers, told.width, 2 * sum(sizes)]
        super().__init__(layers(widths, seeds, f"init/modulation/{part}"), sizes, part)

    def _features_of(self, t: Tensor) -> Tensor:
        return torch.cat([t, t.square(), torch.sin(3 * t)], dim=-1)

    def _gates(self, features: Tensor) -> Tensor:
        return forward(self._leaves, features) + self._plain.to(features)

    def named(self) -> dict[str, Tensor]:
        return named(self._leaves, f"modulation.{self._part}")


def modulation(told: Told, sizes: Sequence[int], seeds: Seeds, part: str) -> Modulation:
    return (Perceptron if told.width else Polynomial)(told, sizes, seeds, part)


def joined(stack: Stack, modulation: Modulation | None) -> Stack:
    """A stack with the leaves of a modulation after its own, one buffer for both."""
    if modulation is None:
        return stack
    both = (stack, modulation.stack)
    shapes = [tuple(leaf.shape[1:]) for each in both for leaf in each.leaves]
    paces = [torch.ones_like(each.flat[0]) if each.pace is None else each.pace for each in both]
    paced = any(each.pace is not None for each in both)
    flat = torch.cat([each.flat for each in both], dim=1)
    modulation.stack = Stack(flat, shapes, torch.cat(paces) if paced else None)
    return modulation.stack
