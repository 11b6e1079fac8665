"""Variational information bottleneck (Alemi et al. 2017)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from workers.models.components.latent_code import Code
from workers.problems.rates import kl_to_prior


class Rate:
    """z = μ + σ ε with σ = softplus(ρ − 5), and the rate KL(N(μ, σ²) ‖ N(0, I)), summed over latent dimensions."""

    separable = True
    scalars = ()

    def outputs(self, latent: int) -> int:
        return 2 * latent

    def code(self, s: tuple[Tensor, ...]) -> Code:
        mean, rho = s[0].chunk(2, dim=-1)
        return Code(mean, functional.softplus(rho - 5))

    def sample(self, code: Code, noise: Tensor) -> Tensor:
        return torch.addcmul(code.mean, code.scale, noise)

    def nats(self, code: Code) -> Tensor:
        return kl_to_prior(code)
