"""Problems turn a batch into named loss terms. `problems.<name>` holds a class named as in the contract."""

from __future__ import annotations

import importlib
from typing import Protocol

from torch import Tensor

from service.contract.problems import Problem as Spec
from workers.models import Model
from workers.problems.rates import Code


class Problem(Protocol):
    """Loss terms of K members. `outputs` is the encoder's width, `latent` that of code and noise.

    `scalars` are first values of numbers that train with the encoder; `encode` returns them after its outputs.
    """

    terms: tuple[str, ...]
    outputs: int
    scalars: tuple[float, ...]
    latent: int

    def losses(self, model: Model, s: tuple[Tensor, ...], y: Tensor, noise: Tensor) -> list[Tensor]:
        """One loss [K] per term from the encoder's outputs s, labels [K, B] and noise [K, B, latent].

        These are what is optimised and what weightings see: a transformed term is u(r), not r.
        """
        ...

    def raw(self, losses: Tensor) -> Tensor:
        """The terms before any transform, from those of `losses` [..., n]: what is reported."""
        ...

    def code(self, s: tuple[Tensor, ...]) -> Code:
        """The Gaussian code of each input."""
        ...

    def rate(self, s: tuple[Tensor, ...]) -> Tensor:
        """Nats that the code carries about each input, an upper bound by the KL to N(0, I): [K, B]."""
        ...

    def logits(self, model: Model, s: tuple[Tensor, ...], noise: Tensor) -> Tensor:
        """Predictions from one sample of the code: [K, B, classes]."""
        ...


def build(spec: Spec, latent: int) -> Problem:
    """The problem that an arm names."""
    module = importlib.import_module(f"{__name__}.{spec.name.replace('-', '_')}")
    problem: Problem = getattr(module, type(spec).__name__)(spec, latent)
    return problem
