"""Nonlinear information bottleneck (Kolchinsky, Tracey & Wolpert 2019)."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from workers.models.components.latent_code import Code


class Rate:
    """T = f(x) + N(0, σ²I) with one trained σ² = softplus(φ) per member, and a bound on I(X;T) over the batch.

    nats_i = −log[(1/N) Σ_j exp(−‖f_i − f_j‖² / 2σ²)]. Its mean is an upper bound on the information about which of
    the N examples it was, so never above ln N: compare rates at one batch size only. No prior fixes the scale of f,
    so the KL to N(0, I) is a valid but very loose bound here; the evaluation's fitted marginal follows that scale.
    """

    separable = False  # all examples of a batch make it together

    # φ with σ² = 1, the prior's noise. On digits (one seed, 40 epochs) φ of −7, −5 and −3 gave no β between a collapsed
    # code and one with all points apart at ln N, where the bound is flat; at σ² = 1 the β between reach rates between.
    scalars = (math.log(math.e - 1),)

    def outputs(self, latent: int) -> int:
        return latent

    def code(self, s: tuple[Tensor, ...]) -> Code:
        f, phi = s
        return Code(f, functional.softplus(phi).sqrt())  # [K, B, latent], [K, 1, 1]

    def sample(self, code: Code, noise: Tensor) -> Tensor:
        return torch.addcmul(code.mean, code.scale, noise)

    def nats(self, code: Code) -> Tensor:
        f = code.mean.double() / code.scale.double()  # the expanded square cancels where σ is small beside ‖f‖
        half = 0.5 * f.square().sum(-1)  # [K, N]
        logs = torch.baddbmm(-half[:, None, :], f, f.mT) - half[:, :, None]  # −‖f_i − f_j‖²/2σ² [K, N, N]
        near = torch.logsumexp(logs.clamp_max(0), dim=-1).clamp_min(0)  # at least the ln 1 of j = i, also when rounded
        return (math.log(f.shape[1]) - near).to(code.mean.dtype)
