"""Stacked multi-layer perceptrons."""

from __future__ import annotations

from torch import Tensor

from service.contract.methods.models import Mlp as Spec
from workers import balance
from workers.balance import Pair
from workers.data.random_streams import Seeds
from workers.models import ALL, Sizes
from workers.models.components.feedback import DirectFeedback
from workers.models.components.heads import Heads
from workers.models.components.layers import ACTIVATIONS, forward, layers, named, scalars
from workers.models.components.modulation import joined, modulation


class Mlp:
    """Encoder features → widths → outputs and head latent → head → classes, for K members at once.

    Each layer is x W + b with W [K, in, out], b [K, 1, out], both from U(±1/√in) as in torch.nn.Linear.
    """

    def __init__(self, spec: Spec, sizes: Sizes, seeds: Seeds) -> None:
        widths = [*spec.widths, sizes.outputs]
        own = layers([sizes.features, *widths], seeds, "init/encoder", sizes.scalars)
        self._ends = len(own.leaves)
        self._weights = self._ends - len(sizes.scalars)
        told = sizes.told
        self._modulation = modulation(told, widths, seeds, "encoder") if told and told.encoder else None
        self.encoder = joined(own, self._modulation)
        self._activation = ACTIVATIONS[spec.activation]
        self.heads = Heads(sizes.latent, spec.head, sizes.heads, seeds, self._activation, sizes.constants, told)
        self.head = self.heads.stack
        self._seeds = seeds
        self._feedback: DirectFeedback | None = None
        self._training = False

    def align_feedback(self) -> DirectFeedback:
        """From now on hidden layers train by direct feedback instead of backpropagation."""
        leaves = self.encoder.leaves[: self._weights]
        self._feedback = DirectFeedback(leaves, self.heads, self._activation, self._seeds)
        return self._feedback

    def train(self, on: bool) -> None:
        """Direct feedback is for training alone: attacks need the true gradient at the input."""
        self._training = on

    def condition(self, t: Tensor) -> None:
        for each in (self._modulation, self.heads.modulation):
            if each is not None:
                each.condition(t)

    def encode(self, x: Tensor) -> tuple[Tensor, ...]:
        weights, scalars = self.encoder.leaves[: self._weights], self.encoder.leaves[self._weights : self._ends]
        if self._feedback is not None and self._training:
            return (self._feedback.encode(weights, x), *scalars)
        gates = self._modulation() if self._modulation else ()
        return (forward(weights, x, self._activation, gates), *scalars)

    def named(self) -> dict[str, Tensor]:
        weights, rest = self.encoder.leaves[: self._weights], self.encoder.leaves[self._weights : self._ends]
        told = self._modulation.named() if self._modulation else {}
        return {**named(weights, "encoder"), **scalars(rest), **told, **self.heads.named()}

    def pairs(self, code: bool = False) -> list[Pair]:
        weights = self.encoder.leaves[: self._weights]
        units = balance.dense("code", weights[-2], weights[-1], []) if code else None
        return [*balance.chain(weights, "encoder", self._activation.c), *self.heads.pairs(units)]

    def decode(self, z: Tensor, head: int = 0, rows: slice = ALL) -> Tensor:
        if self._feedback is not None and self._training:
            return self._feedback.decode(z, head, rows)
        return self.heads(z, head, rows)
