"""Direct feedback alignment (Nøkland 2016): hidden layers learn of the output's error through fixed random matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from workers.data.random_streams import Seeds
from workers.models.layers import Activation


class DirectFeedback:
    """A perceptron's forward pass whose backward pass gives hidden layer l the error e B_l ⊙ f'(a_l).

    e [K, B, outputs] is the gradient at the outputs and B_l [K, outputs, units] is drawn once per seed from
    N(0, 1/outputs). The last layer has its true gradient; nothing is passed on to the input.
    """

    def __init__(self, leaves: Sequence[Tensor], activation: Activation, seeds: Seeds) -> None:
        self._activation = activation
        outputs = leaves[-1].shape[2]

        def drawn(layer: int, units: int) -> Tensor:
            return seeds.draw(f"feedback/{layer}", lambda g: torch.randn(outputs, units, generator=g))

        hidden = leaves[1:-2:2]
        self.matrices = [seeds.spread(drawn(i, bias.shape[2])) * outputs**-0.5 for i, bias in enumerate(hidden)]

    def __call__(self, leaves: Sequence[Tensor], x: Tensor) -> Tensor:
        hidden: list[Tensor] = []
        for i in range(0, len(leaves) - 2, 2):
            hidden.append(self._activation.f(torch.baddbmm(leaves[i + 1], x, leaves[i])))  # [K, B, units]
            x = hidden[-1].detach()
        out = torch.baddbmm(leaves[-1], x, leaves[-2])
        fed: Tensor = _Feed.apply(out, self.matrices, *hidden)
        return fed


class _Feed(torch.autograd.Function):
    """The outputs as they are; backwards each hidden layer gets the outputs' gradient through its matrix."""

    @staticmethod
    def forward(ctx: Any, out: Tensor, matrices: list[Tensor], *hidden: Tensor) -> Tensor:
        ctx.matrices = matrices
        return out.view_as(out)

    @staticmethod
    def backward(ctx: Any, e: Tensor) -> Any:
        return (e, None, *(torch.bmm(e, matrix) for matrix in ctx.matrices))
