"""The heads of a model: perceptrons from one code to each prediction."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor

from workers import balance
from workers.balance import Pair
from workers.data.random_streams import Seeds
from workers.models.components.layers import RELU, Activation, forward, layers, modulated, named
from workers.models.components.modulation import ALL, Told, joined, modulation
from workers.models.components.stack import Stack


class Heads:
    """One perceptron latent → hidden → outputs for each entry of `outputs`, all in one Stack.

    The first head has `constants` more outputs, trained numbers from 0 on that are the same for every code. Where the
    heads are `told` something, the code is modulated by it before they read it, and so are these numbers.
    """

    def __init__(
        self,
        latent: int,
        hidden: Sequence[int],
        outputs: Sequence[int],
        seeds: Seeds,
        activation: Activation = RELU,
        constants: int = 0,
        told: Told | None = None,
    ) -> None:
        self._activation, self.outputs = activation, tuple(outputs)
        streams = ["init/head", *(f"init/head/{i}" for i in range(1, len(outputs)))]
        own = [layers([latent, *hidden, o], seeds, name) for o, name in zip(outputs, streams, strict=True)]
        shapes = [tuple(leaf.shape[1:]) for stack in own for leaf in stack.leaves]
        flats = [stack.flat for stack in own]
        self._constants = bool(constants)
        if constants:
            flats.append(flats[0].new_zeros(len(flats[0]), constants))
            shapes.append((1, constants))
        read = [latent, constants] if constants else [latent]
        self.modulation = modulation(told, read, seeds, "decoder") if told and told.decoder else None
        self.stack = joined(Stack(torch.cat(flats, dim=1), shapes), self.modulation)
        self._last = len(shapes) - 1
        ends = list(itertools.accumulate(len(stack.leaves) for stack in own))
        self._parts = [slice(a, b) for a, b in itertools.pairwise([0, *ends])]

    def leaves(self, head: int) -> list[Tensor]:
        return self.stack.leaves[self._parts[head]]

    def __call__(self, z: Tensor, head: int, rows: slice = ALL) -> Tensor:
        """[K, B, latent] -> [K, B, outputs of this head]; z are these rows of what was told."""
        gates = self.modulation(rows) if self.modulation else ()
        outputs = forward(self.leaves(head), modulated(z, *gates[0]) if gates else z, self._activation)
        if head or not self._constants:
            return outputs
        constants = self.stack.leaves[self._last].expand(-1, z.shape[1], -1)
        return torch.cat([outputs, modulated(constants, *gates[1]) if gates else constants], dim=-1)

    def named(self) -> dict[str, Tensor]:
        """`head.0.weight`; with several heads `heads.1.0.weight` of the second one; `head.constants` [K, constants]."""
        constants = {"head.constants": self.stack.leaves[self._last].detach()[:, 0]} if self._constants else {}
        constants |= self.modulation.named() if self.modulation else {}
        if len(self._parts) == 1:
            return {**named(self.leaves(0), "head"), **constants}
        heads = [named(self.leaves(head), f"heads.{head}") for head in range(len(self._parts))]
        return {**{name: tensor for own in heads for name, tensor in own.items()}, **constants}

    def pairs(self, code: Pair | None = None) -> list[Pair]:
        """Hidden layers of all heads, after the units of a code that all heads read, where these are hidden ones."""
        heads = [self.leaves(head) for head in range(len(self._parts))]
        units = [] if code is None else [code._replace(out=[leaves[0].detach() for leaves in heads])]
        return [*units, *(pair for leaves in heads for pair in balance.chain(leaves, "head", self._activation.c))]
