"""Bounds on I(X;Z) for a mixture of N Gaussians from pairwise distances (Kolchinsky & Tracey 2017).

I ≈ −(1/N) Σ_i ln (1/N) Σ_j exp(−D(p_i, p_j)) is a lower bound with the Bhattacharyya distance, which is
‖μ_i − μ_j‖²/8σ² at equal σ, and an upper bound with the KL divergence, ‖μ_i − μ_j‖²/2σ². Both hold for X uniform on
the N points. Means over draws of the points, the lower bound also holds for X itself; the upper one can fall short of
it, surely so where I exceeds ln N.
"""

from __future__ import annotations

import torch
from torch import Tensor

from workers.measures.estimators.samples.blocks import mean_log_mean_exp

DIMENSIONS = 16  # variance ratios multiplied before one logarithm: far fewer logarithms, and no overflow in float64


def lower(mean: Tensor, scale: Tensor) -> Tensor:
    """Bhattacharyya bound in nats [K] from μ, σ [K, N, L]: Σ_d (Δμ)²/4(σ_i²+σ_j²) + ½ ln[(σ_i²+σ_j²)/2σ_iσ_j]."""
    mean, scale = mean.double(), scale.double()

    def logs(rows: slice) -> Tensor:
        total = mean.new_zeros(())
        for start in range(0, mean.shape[-1], DIMENSIONS):
            ratio = mean.new_ones(())
            for d in range(start, min(start + DIMENSIONS, mean.shape[-1])):
                m, s = mean[..., d], scale[..., d]
                mi, si, mj, sj = m[:, rows, None], s[:, rows, None], m[:, None, :], s[:, None, :]
                variance = torch.addcmul(sj.square(), si, si)  # σ_i² + σ_j² [K, rows, N]
                total = total - (mi - mj).square_().div_(variance).mul_(0.25)
                ratio = ratio * variance.div_(2 * si * sj)
            total = total - 0.5 * ratio.log()
        return total

    return -mean_log_mean_exp(mean.shape[0], mean.shape[1], logs)


def upper(mean: Tensor, scale: Tensor) -> Tensor:
    """KL bound in nats [K] from μ, σ [K, N, L]: KL(p_i‖p_j) = Σ_d ln σ_j/σ_i + (σ_i² + (Δμ)²)/2σ_j² − ½."""
    mean, scale = mean.double(), scale.double()
    precision = scale.square().reciprocal()  # [K, N, L]
    log_scale = scale.log().sum(-1)
    own = (mean.square() * precision).sum(-1)  # μ_j²/σ_j²

    def logs(rows: slice) -> Tensor:
        second = mean[:, rows].square() + scale[:, rows].square()  # E_i z²
        squares = torch.bmm(second, precision.mT) - 2 * torch.bmm(mean[:, rows], (mean * precision).mT)
        kl = log_scale[:, None, :] - log_scale[:, rows, None] + 0.5 * (squares + own[:, None, :] - mean.shape[-1])
        return -kl.clamp_min(0)  # [K, rows, N]

    return -mean_log_mean_exp(mean.shape[0], mean.shape[1], logs)
