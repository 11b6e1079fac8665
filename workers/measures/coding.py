"""What can be measured and attacked: a problem whose encoder makes a Gaussian code."""

from __future__ import annotations

from typing import Any, Protocol

from torch import Tensor

from workers.models.components.latent_code import Code

Columns = dict[str, list[float]]  # metrics, a value per member


class Coder(Protocol):
    """What makes codes of inputs and reads them: a model, or the methods of a user's problem."""

    def encode(self, x: Tensor) -> tuple[Tensor, ...]: ...  # [K, B, features] -> what `Coding.code` takes

    def decode(self, z: Tensor) -> Tensor: ...  # [K, B, latent] -> [K, B, outputs]


class Coding(Protocol):
    """A problem with such a code: what estimators and attacks need. `latent` is the code's width."""

    latent: int

    def code(self, s: tuple[Tensor, ...]) -> Code:
        """The Gaussian code of each input."""
        ...

    def rate(self, s: tuple[Tensor, ...]) -> Tensor:
        """Nats that the code carries about each input, an upper bound by the KL to N(0, I): [K, B]."""
        ...

    def logits(self, model: Any, s: tuple[Tensor, ...], noise: Tensor) -> Tensor:
        """The decoder's outputs (logits, for classes) from one sample of the code: [K, B, outputs]."""
        ...
