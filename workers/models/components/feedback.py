"""Direct feedback alignment (Nøkland 2016): hidden layers learn of the output's error through fixed random matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from workers.data.random_streams import Seeds
from workers.models.components.heads import Heads
from workers.models.components.layers import Activation


class DirectFeedback:
    """Forward passes of a perceptron in which each layer sees its input as a constant; backwards δ_l = e B_l ⊙ f'(a_l).

    e [K, B, outputs] is the gradient at a head's outputs and B_l [K, outputs, units], one for each head and layer, is
    drawn once per seed from N(0, 1/outputs). All units between input and outputs are hidden: the encoder's, those of
    the code and the head's. What is a loss of the code itself (a rate) has its error there instead: C_l carries it to
    the encoder's hidden layers. The last layer before an error has its true gradient.
    """

    def __init__(self, encoder: Sequence[Tensor], heads: Heads, activation: Activation, seeds: Seeds) -> None:
        self._activation, self._heads = activation, heads
        counts = heads.outputs
        units = [bias.shape[2] for bias in encoder[1:-2:2]]  # of the encoder's hidden layers
        code = encoder[-1].shape[2]

        def drawn(stream: str, outputs: int, units: int) -> Tensor:
            draws = seeds.draw(f"feedback/{stream}", lambda g: torch.randn(outputs, units, generator=g))
            return seeds.spread(draws) / math.sqrt(outputs)

        self.to_encoder = [  # B_l [K, outputs of all heads, units]
            torch.cat([drawn(f"{head}/encoder/{i}", o, n) for head, o in enumerate(counts)], dim=1)
            for i, n in enumerate(units)
        ]
        self.to_head = [  # [head][layer]: B [K, outputs, units] of the code, then of the head's hidden layers
            [drawn(f"{head}/head/{i}", o, leaf.shape[1]) for i, leaf in enumerate(heads.leaves(head)[::2])]
            for head, o in enumerate(counts)
        ]
        self.of_code = [drawn(f"code/{i}", code, n) for i, n in enumerate(units)]  # C_l [K, code, units]
        self.hidden: list[Tensor] = []  # of the encoder, from the last examples [K, B, units]
        self.lines = torch.empty(0)  # [K, B, outputs of all heads]: zeros that heads add, so their gradient is e

    def encode(self, leaves: Sequence[Tensor], x: Tensor) -> Tensor:
        self.hidden, out = self._layers(leaves, x)
        self.lines = x.new_zeros(*x.shape[:2], sum(self._heads.outputs), requires_grad=True)
        return out

    def decode(self, z: Tensor, head: int, rows: slice) -> Tensor:
        """Of z, which are these rows of the last examples."""
        hidden, out = self._layers(self._heads.leaves(head), z.detach())
        fed: Tensor = _Feed.apply(out, self.to_head[head], z, *hidden)
        start = sum(self._heads.outputs[:head])
        return fed + self.lines[:, rows, start : start + out.shape[2]]

    def _layers(self, leaves: Sequence[Tensor], x: Tensor) -> tuple[list[Tensor], Tensor]:
        hidden: list[Tensor] = []
        for i in range(0, len(leaves) - 2, 2):
            hidden.append(self._activation.f(torch.baddbmm(leaves[i + 1], x, leaves[i])))  # [K, B, units]
            x = hidden[-1].detach()
        return hidden, torch.baddbmm(leaves[-1], x, leaves[-2])


class _Feed(torch.autograd.Function):
    """The outputs as they are; backwards the code and each hidden layer get the outputs' gradient through a matrix."""

    @staticmethod
    def forward(ctx: Any, out: Tensor, matrices: list[Tensor], *hidden: Tensor) -> Tensor:
        ctx.matrices = matrices
        return out.view_as(out)

    @staticmethod
    def backward(ctx: Any, e: Tensor) -> Any:
        return (e, None, *(torch.bmm(e, matrix) for matrix in ctx.matrices))
