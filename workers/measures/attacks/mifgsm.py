"""Momentum iterative FGSM (Dong et al. 2018)."""

from __future__ import annotations

from service.contract.methods.attacks import Mifgsm as Spec
from workers.measures.attacks.steps.ascent import Momentum


class Mifgsm(Momentum):
    """d ← g/mean|g| + decay·d, from the image itself."""

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        self.decay = spec.decay
