"""Stacked recurrent networks."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from service.contract.methods.models import Rnn as Spec
from workers import balance
from workers.balance import Pair
from workers.data.random_streams import Seeds
from workers.models import ALL, Sizes
from workers.models.components.from_shapes import Parameter, linear, stacked
from workers.models.components.heads import Heads
from workers.models.components.layers import linear as named_linear
from workers.models.components.layers import scalars
from workers.models.components.sequences import Sequences, mean


class Rnn:
    """Elman layers h_t = ReLU(x_t W + h_{t−1} L + b) from h_0 = 0, then a dense layer on the mean of the last one's h.

    W [K, in, units], b [K, 1, units] and L [K, units, units] from U(±1/√fan-in).
    """

    def __init__(self, spec: Spec, sizes: Sizes, seeds: Seeds) -> None:
        self._sequences = Sequences(sizes, spec.embedding)
        parameters = [self._sequences.parameter]
        for i, o in itertools.pairwise([spec.embedding, *spec.hidden]):
            parameters += [*linear(i, o), Parameter((o, o), o**-0.5)]
        parameters += linear(spec.hidden[-1], sizes.outputs)
        self._weights = len(parameters)
        self.encoder = stacked(parameters, seeds, "init/encoder", sizes.scalars)
        self.heads = Heads(sizes.latent, spec.head, sizes.heads, seeds, constants=sizes.constants)
        self.head = self.heads.stack

    def train(self, on: bool) -> None:
        """Nothing: the model computes the same in training and evaluation."""

    def encode(self, x: Tensor) -> tuple[Tensor, ...]:
        table, *leaves = self.encoder.leaves[: self._weights]
        steps, there = self._sequences(x, table)  # [K, B, T, embedding]
        for i in range(0, len(leaves) - 2, 3):
            steps = _recur(steps, *leaves[i : i + 3])
        return (torch.baddbmm(leaves[-1], mean(steps, there), leaves[-2]), *self.encoder.leaves[self._weights :])

    def decode(self, z: Tensor, head: int = 0, rows: slice = ALL) -> Tensor:
        return self.heads(z, head)

    def named(self) -> dict[str, Tensor]:
        table, *leaves = self.encoder.leaves[: self._weights]
        tensors = {self._sequences.name: table.detach()}
        for i in range(0, len(leaves) - 2, 3):
            layer = f"encoder.recurrent.{i // 3}"
            tensors |= {**named_linear(leaves[i], leaves[i + 1], layer), f"{layer}.loop": leaves[i + 2].detach().mT}
        tensors |= named_linear(leaves[-2], leaves[-1], "encoder.code")
        return {**tensors, **scalars(self.encoder.leaves[self._weights :]), **self.heads.named()}

    def pairs(self, code: bool = False) -> list[Pair]:
        leaves = self.encoder.leaves[1 : self._weights]
        starts = range(0, len(leaves) - 2, 3)
        hidden = [
            balance.recurrent(f"recurrent-{i // 3 + 1}", leaves[i], leaves[i + 1], leaves[i + 2], [leaves[i + 3]])
            for i in starts
        ]
        units = balance.dense("code", leaves[-2], leaves[-1], []) if code else None
        return [*hidden, *self.heads.pairs(units)]


def _recur(steps: Tensor, weight: Tensor, bias: Tensor, loop: Tensor) -> Tensor:
    """All states of a layer: [K, B, T, in] -> [K, B, T, units]."""
    into = torch.baddbmm(bias, steps.flatten(1, 2), weight).unflatten(1, steps.shape[1:3])
    h = into.new_zeros(into[:, :, 0].shape)  # [K, B, units]
    states: list[Tensor] = []
    for x in into.unbind(2):
        h = torch.baddbmm(x, h, loop).relu()
        states.append(h)
    return torch.stack(states, 2)
