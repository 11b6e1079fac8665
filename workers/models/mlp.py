"""Stacked ReLU multi-layer perceptrons."""

from __future__ import annotations

from torch import Tensor

from service.contract.models import Mlp as Spec
from workers.data.streams import Seeds
from workers.models import Sizes
from workers.models.heads import Heads
from workers.models.layers import forward, layers


class Mlp:
    """Encoder features → widths → outputs and head latent → head → classes, for K members at once.

    Each layer is x W + b with W [K, in, out], b [K, 1, out], both from U(±1/√in) as in torch.nn.Linear.
    """

    def __init__(self, spec: Spec, sizes: Sizes, seeds: Seeds) -> None:
        self.encoder = layers([sizes.features, *spec.widths, sizes.outputs], seeds, "init/encoder", sizes.scalars)
        self._weights = len(self.encoder.leaves) - len(sizes.scalars)
        self.heads = Heads(sizes.latent, spec.head, sizes.heads, seeds)
        self.head = self.heads.stack

    def train(self, on: bool) -> None:
        """Nothing: the model computes the same in training and evaluation."""

    def encode(self, x: Tensor) -> tuple[Tensor, ...]:
        leaves = self.encoder.leaves
        return (forward(leaves[: self._weights], x), *leaves[self._weights :])

    def decode(self, z: Tensor, head: int = 0) -> Tensor:
        return self.heads(z, head)
