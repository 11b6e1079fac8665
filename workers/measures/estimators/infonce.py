"""InfoNCE (van den Oord et al. 2018) with the encoder's own density as critic: the best critic there is."""

from __future__ import annotations

import torch
from torch import Tensor

from workers.measures.estimators.samples.blocks import mean_log_mean_exp


def infonce(mean: Tensor, scale: Tensor, noise: Tensor) -> Tensor:
    """E_i ln[p(z_i|x_i) / (1/N) Σ_j p(z_i|x_j)] in nats [K], z_i = μ_i + σ_i ε_i; all [K, N, L].

    At most ln N, and in the mean over draws below I(X;Z).
    """
    mean, scale = mean.double(), scale.double()
    z = torch.addcmul(mean, scale, noise.double())
    precision = scale.square().reciprocal()
    offset = scale.log().sum(-1) + 0.5 * (mean.square() * precision).sum(-1)  # [K, N]
    own = -0.5 * noise.double().square().sum(-1) - scale.log().sum(-1)  # ln p(z_i|x_i) + const

    def logs(rows: slice) -> Tensor:
        """ln p(z_i|x_j) − ln p(z_i|x_i), exactly 0 at j = i."""
        part = z[:, rows]
        cross = torch.bmm(part, (mean * precision).mT) - 0.5 * torch.bmm(part.square(), precision.mT)
        relative = cross - offset[:, None, :] - own[:, rows, None]
        here = torch.arange(z.shape[1], device=z.device)[rows]
        relative[:, torch.arange(len(here), device=z.device), here] = 0 * own[:, rows]
        return relative

    return -mean_log_mean_exp(mean.shape[0], mean.shape[1], logs)
