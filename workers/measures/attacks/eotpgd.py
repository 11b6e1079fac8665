"""PGD against a stochastic model (expectation over transformation, Athalye et al. 2018)."""

from __future__ import annotations

from service.contract.methods.attacks import Eotpgd as Spec
from workers.measures.attacks.steps.ascent import Attack


class Eotpgd(Attack):
    """PGD on the gradient summed over `eot` latent samples."""

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        self.passes = spec.eot
