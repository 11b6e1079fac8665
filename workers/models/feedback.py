"""Direct feedback alignment (Nøkland 2016): hidden layers learn of the output's error through fixed random matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from workers.data.streams import Seeds
from workers.models.layers import Activation


class DirectFeedback:
    """A perceptron's forward pass whose backward pass gives hidden layer l the error e B_l ⊙ f'(a_l).

    e [K, B, outputs] is the gradient at the outputs and B_l [K, outputs, units] is drawn once per seed from
    N(0, 1/outputs). The last layer has its true gradient; nothing is passed on to the input.
    """

    def __init__(self, leaves: Sequence[Tensor], activation: Activation, seeds: Seeds) -> None:
        self._activation = activation
        outputs = leaves[-1].shape[2]
        self.matrices: list[Tensor] = []
        for i, bias in enumerate(leaves[1:-2:2]):
            units = bias.shape[2]
            drawn = seeds.draw(f"feedback/{i}", lambda g, n=units: torch.randn(outputs, n, generator=g))  # type: ignore[misc]
            self.matrices.append(seeds.spread(drawn) * outputs**-0.5)

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
