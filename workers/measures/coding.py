"""What can be measured and attacked: a problem whose encoder makes a Gaussian code."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from torch import Tensor

from workers.models import Model

Columns = dict[str, list[float]]  # metrics, a value per member


class Code(NamedTuple):
    """A Gaussian code N(mean, diag(scale²)) per example."""

    mean: Tensor  # [K, B, latent]
    scale: Tensor  # the same, or what broadcasts to it: one noise level per member is [K, 1, 1]


class Coding(Protocol):
    """A problem with such a code: what estimators and attacks need. `latent` is the code's width."""

    latent: int

    def code(self, s: tuple[Tensor, ...]) -> Code:
        """The Gaussian code of each input."""
        ...

    def rate(self, s: tuple[Tensor, ...]) -> Tensor:
        """Nats that the code carries about each input, an upper bound by the KL to N(0, I): [K, B]."""
        ...

    def logits(self, model: Model, s: tuple[Tensor, ...], noise: Tensor) -> Tensor:
        """The decoder's outputs (logits, for classes) from one sample of the code: [K, B, outputs]."""
        ...
