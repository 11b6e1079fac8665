"""The heads of a model: perceptrons from one code to each prediction."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor

from workers.data.streams import Seeds
from workers.models.layers import forward, layers
from workers.models.stack import Stack


class Heads:
    """One perceptron latent → hidden → outputs for each entry of `outputs`, all in one Stack."""

    def __init__(self, latent: int, hidden: Sequence[int], outputs: Sequence[int], seeds: Seeds) -> None:
        streams = ["init/head", *(f"init/head/{i}" for i in range(1, len(outputs)))]
        own = [layers([latent, *hidden, o], seeds, name) for o, name in zip(outputs, streams, strict=True)]
        shapes = [tuple(leaf.shape[1:]) for stack in own for leaf in stack.leaves]
        self.stack = Stack(torch.cat([stack.flat for stack in own], dim=1), shapes)
        ends = list(itertools.accumulate(len(stack.leaves) for stack in own))
        self._parts = [slice(a, b) for a, b in itertools.pairwise([0, *ends])]

    def leaves(self, head: int) -> list[Tensor]:
        return self.stack.leaves[self._parts[head]]

    def __call__(self, z: Tensor, head: int) -> Tensor:  # [K, B, latent] -> [K, B, outputs[head]]
        return forward(self.leaves(head), z)
