"""What a label is: the decoder's likelihood of it, its own entropy, and whether a prediction hits it."""

from __future__ import annotations

import math
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from workers.data import DataSet


class Label(Protocol):
    outputs: int  # of the decoder, from the code
    constants: int  # further ones, the same for every code

    def nats(self, outputs: Tensor, y: Tensor) -> Tensor:
        """−ln q(y|z) per example: [K, B]."""
        ...

    def surprise(self, y: Tensor) -> Tensor:
        """−ln p(y) per example, whose mean is H(Y): [N], float64."""
        ...

    def guess(self, outputs: Tensor) -> Tensor:
        """What is added up over latent samples before `hits`."""
        ...

    def hits(self, guess: Tensor, y: Tensor) -> Tensor:
        """1 where the sum of guesses is right, 0 where not, NaN where that means nothing: [K, B]."""
        ...


class Classes:
    """One of n classes, softmax decoder. p(y) is measured on the split, not assumed uniform.

    Logits are transposed to [K, classes, B]: over a short last dimension torch's softmax is ten times slower.
    """

    constants = 0

    def __init__(self, count: int) -> None:
        self.outputs = count

    def nats(self, outputs: Tensor, y: Tensor) -> Tensor:
        return functional.cross_entropy(outputs.mT, y, reduction="none")

    def surprise(self, y: Tensor) -> Tensor:
        p = torch.bincount(y).double() / len(y)
        return -p[y].log()

    def guess(self, outputs: Tensor) -> Tensor:
        return outputs.mT.softmax(1).mT

    def hits(self, guess: Tensor, y: Tensor) -> Tensor:
        return (guess.max(-1).indices == y).double()  # argmax says the same, many times slower on what `guess` returns


class StandardNormal:
    """A vector from N(0, I), Gaussian decoder with a mean and a log-variance per coordinate. p(y) is known.

    Only the mean reads the code: of jointly Gaussian y and z the variance of y given z is the same for every z.
    """

    def __init__(self, dimensions: int) -> None:
        self.outputs = self.constants = dimensions

    def nats(self, outputs: Tensor, y: Tensor) -> Tensor:
        mean, log_variance = outputs.chunk(2, dim=-1)
        squares = (y - mean).square() * torch.exp(-log_variance)
        return 0.5 * (squares + log_variance + math.log(2 * math.pi)).sum(-1)

    def surprise(self, y: Tensor) -> Tensor:
        return 0.5 * (y.double().square() + math.log(2 * math.pi)).sum(-1)

    def guess(self, outputs: Tensor) -> Tensor:
        return outputs

    def hits(self, guess: Tensor, y: Tensor) -> Tensor:
        return guess.new_full(guess.shape[:2], torch.nan, dtype=torch.float64)


def kind_of(y: Tensor, count: int = 0) -> Label:
    """Vectors of floats are normal labels, integers are one of `count` classes."""
    return StandardNormal(y.shape[-1]) if y.is_floating_point() else Classes(count)


def of(data: DataSet) -> Label:
    """The label of a data set."""
    return kind_of(data.y_train, data.classes)
