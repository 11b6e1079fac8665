"""Ultimate PGD: momentum with a choice of loss."""

from __future__ import annotations

from torch import Tensor

from service.contract.methods.attacks import Upgd as Spec
from workers.measures.attacks.steps import losses
from workers.measures.attacks.steps.ascent import Look, Momentum

LOSSES = {"ce": losses.cross_entropy, "margin": losses.margin, "dlr": losses.dlr}


class Upgd(Momentum):
    """d ← g/mean|g| + decay·d with g of cross-entropy, margin or DLR."""

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        self.decay = spec.decay
        self._loss = LOSSES[spec.loss]

    def loss(self, look: Look) -> Tensor:
        return self._loss(look.logits, look.y)
