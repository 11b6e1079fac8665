"""The marginal of the code, fitted: it makes E_x KL(q(z|x) ‖ r(z)), an upper bound on I(X;Z), follow the code.

The bound holds for every r that does not depend on the examples it is averaged over, hence for one fitted to the codes
of the training split. N(0, I) is such an r too, but one that also charges for the scale and the place of the code.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from workers.models.components.latent_code import Code


class Marginal(NamedTuple):
    """r(z) = Σ_c p_c N(m_c, V) of each member, with one covariance V for all components; float64."""

    log_p: Tensor  # [K, C]
    centres: Tensor  # m, [K, C, L]
    whitening: Tensor  # W, lower triangular, with WᵀW = V⁻¹: [K, L, L]

    def nats(self, code: Code) -> Tensor:
        """−ln Σ_c p_c exp(−KL(q ‖ N(m_c, V))) ≥ KL(q ‖ r) (Jensen), equal for equal centres: [K, B].

        KL(q ‖ N(m, V)) = ½(‖W(μ − m)‖² + Σ_d σ_d² (V⁻¹)_dd − L) − ln det W − Σ_d ln σ_d. Infinite or not a number for a
        code without noise.
        """
        z, scale = code.mean.double() @ self.whitening.mT, code.scale.double().expand_as(code.mean)  # Wμ, σ
        precision = self.whitening.square().sum(1)[:, :, None]  # (V⁻¹)_dd, [K, L, 1]
        spread = z.square().sum(-1) + (scale.square() @ precision)[..., 0] - scale.shape[-1]  # [K, B]
        return 0.5 * spread + self.log_volume - self.near(z) - scale.log().sum(-1)

    def near(self, z: Tensor) -> Tensor:
        """ln Σ_c p_c exp(−½‖z − Wm_c‖²) + ½‖z‖² of z = Wμ: [K, B]."""
        m = self.whitened_centres
        return torch.baddbmm((self.log_p - 0.5 * m.square().sum(-1))[:, None], z, m.mT).logsumexp(-1)

    @property
    def whitened_centres(self) -> Tensor:
        """Wm: [K, C, L]."""
        return self.centres @ self.whitening.mT

    @property
    def log_volume(self) -> Tensor:
        """½ ln det V = −ln det W: [K, 1]."""
        return -self.whitening.diagonal(dim1=1, dim2=2).log().sum(1, keepdim=True)


def fit(code: Code, y: Tensor) -> Marginal:
    """The r of codes [K, N, L] with labels y [K, N] or [K, N, d]: a Gaussian, or one per class where that is tighter.

    Both match the moments of the aggregated posterior Σ_i q(z|x_i)/N, which for one Gaussian gives the least mean KL.
    Codes of classes may lie in clusters, and one Gaussian wastes itself between them. Each member takes what suits it.
    """
    mean = code.mean.double()
    group = y.new_zeros(y.shape[:2], dtype=torch.long) if y.is_floating_point() else y
    belongs = functional.one_hot(group).double()  # [K, N, C]
    p = belongs.mean(1)[..., None]  # [K, C, 1]
    centres = belongs.mT @ mean / belongs.sum(1).clamp_min(1)[..., None]  # [K, C, L]
    off = torch.baddbmm(mean, belongs, centres, alpha=-1)
    variance = code.scale.expand_as(mean).square().mean(1, dtype=mean.dtype)  # [K, L]
    within = off.mT @ off / y.shape[1] + torch.diag_embed(variance)  # [K, L, L]
    middle = (p.mT @ centres).expand_as(centres)
    between = (p * (centres - middle)).mT @ (centres - middle)
    log_p = p[..., 0].log()
    many = Marginal(log_p, centres, _whitening(within))
    one = Marginal(log_p, middle, _whitening(within + between))
    # Their mean cross-entropies, but for ½L: both have these codes' moments, so that the mean of ‖Wμ‖² is known.
    of_many = many.log_volume + 0.5 * (p * many.whitened_centres.square()).sum((1, 2))[:, None]
    of_many -= many.near(mean @ many.whitening.mT).mean(1, keepdim=True)  # [K, 1]
    tighter = (of_many < one.log_volume)[..., None]  # [K, 1, 1]
    return Marginal(log_p, torch.where(tighter, centres, middle), torch.where(tighter, many.whitening, one.whitening))


def _whitening(covariance: Tensor) -> Tensor:
    """The inverse Cholesky factor, not a number where there is none: [K, L, L]."""
    factor, failed = torch.linalg.cholesky_ex(covariance)
    identity = torch.eye(factor.shape[-1], dtype=factor.dtype, device=factor.device)
    inverse = torch.linalg.solve_triangular(factor, identity.expand_as(factor), upper=False)
    return torch.where(failed[:, None, None] > 0, torch.nan, inverse)
