"""Auxiliary task reweighting: "Auxiliary Task Reweighting for Minimum-data Learning" (Shi et al. 2020)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from service.contract.methods.weightings import Arml as Spec
from service.contract.metrics import ALPHA_GAP
from workers.weightings import Setting, Weighting
from workers.weightings.solving import min_norm

DECAY = 0.55  # of the Langevin noise, ε_t = ε (1 + t)^−0.55: the paper names none, Welling & Teh (2011) use this
RECENT = 3  # averages weigh step t about as t³: two thirds of the weight lie on the last quarter of the steps


class Arml(Weighting):
    """w = (1, ᾱ): α ← Π(α − lr ∇_α ‖g_main − Σ_k α_k g_k‖²), Π the projection on {α ≥ 0, Σα = K}, from α = 1.

    ᾱ averages α over its recent steps: with a constant step α itself never settles, but follows every batch. Without
    `average` it is α, as in the paper. `two-stage` moves α only in its first steps, in which the parameters get noise
    N(0, 2ε_t); the paper takes the learning rate for ε_t, here ε is its own, because the steps may be Adam's.
    `gram`, `normalize` and `gradient_average` change what α sees, never the gradients of the update.
    """

    needs_gram = True
    remembers = ("_gradients", "_alpha", "_mean_alpha", "_mean_gram", "_moves", "_steps")
    members_second = ("_gradients",)

    def __init__(self, params: Sequence[Spec], setting: Setting) -> None:
        def each(value: Callable[[Spec], float]) -> Tensor:
            values = [[float(value(p))] for p in params]
            return torch.tensor(values, device=setting.device, dtype=torch.float64)  # [m, 1]

        steps = setting.batches * setting.epochs
        self._rate, self._normalized = each(lambda p: p.learning_rate), each(lambda p: p.normalize == "l2") > 0
        self._noise = each(lambda p: p.noise)[:, 0]  # ε, [m]
        self._every = [p.every for p in params]
        self._stage = [round(p.stage * steps) if p.form == "two-stage" else None for p in params]
        self._keep = each(lambda p: p.gradient_average).float()[:, :, None]  # [m, 1, 1]
        self._halves = each(lambda p: p.gram == "halves")[:, :, None] > 0  # [m, 1, 1]
        self.needs_halves = any(p.gram == "halves" for p in params)
        self.own_gram = self.needs_halves or any(p.gradient_average != 0 for p in params)
        self._gradients: Tensor | None = None  # ḡ or its two parts, [1 or 2, m, n, P]
        n = len(setting.terms)
        self._alpha = torch.ones(len(params), n - 1, device=setting.device, dtype=torch.float64)  # [m, K]
        self._averaged = each(lambda p: p.average) > 0
        self._mean_alpha = self._alpha  # ᾱ
        self._mean_gram = self._alpha.new_zeros(len(params), n, n)  # of the same steps
        self._moves = torch.zeros_like(self._rate)  # steps of α so far, [m, 1]
        self._steps = 0

    def gram(self, g: Tensor, half: Tensor | None = None) -> Tensor:
        """Of ḡ ← d ḡ + (1 − d) g, which starts at the first g; with d = 0 that is g.

        `halves`: ḡ = a + b with a and b from different examples. Their noise is independent, so E 4 <a_i, b_j> is
        <E ḡ_i, E ḡ_j>, while ‖ḡ_i‖² has the variance of ḡ_i on top.
        """
        if not self.own_gram:
            return super().gram(g)
        parts = g[None] if half is None else torch.stack((half, g - half))  # [1 or 2, m, n, P]
        self._gradients = parts if self._gradients is None else torch.lerp(parts, self._gradients, self._keep.to(g))
        whole = self._gradients.sum(0)
        gram = torch.bmm(whole, whole.mT)
        if half is None:
            return gram
        across = torch.bmm(self._gradients[0], self._gradients[1].mT)
        return torch.where(self._halves, 2 * (across + across.mT), gram)

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        if gram is None:
            raise ValueError("arml needs the Gram matrix of the gradients")
        self._steps += 1
        moves = [
            self._steps % every == 0 and (stage is None or self._steps <= stage)
            for every, stage in zip(self._every, self._stage, strict=True)
        ]
        if any(moves):
            self._move(self._seen(gram.double()), torch.tensor(moves, device=losses.device)[:, None])
        return torch.cat((torch.ones_like(losses[:, :1]), self._weights().to(losses)), dim=1)

    def parameter_noise(self) -> Tensor | None:
        first = [stage is not None and self._steps <= stage for stage in self._stage]
        if not any(first):
            return None
        epsilon = self._noise * math.pow(self._steps, -DECAY)  # ε_t with t = steps − 1
        return (2 * epsilon).sqrt() * torch.tensor(first, device=epsilon.device)

    def report(self) -> dict[str, dict[int, float]]:
        """How far the weights are from those that minimise the mean of what α descended."""
        gap = (self._weights() - minimiser(self._mean_gram)).abs()  # [m, K]
        return {ALPHA_GAP: dict(enumerate(gap.amax(1).tolist() if gap.shape[1] else [0.0] * len(gap)))}

    def _weights(self) -> Tensor:
        return torch.where(self._averaged, self._mean_alpha, self._alpha)

    def _seen(self, gram: Tensor) -> Tensor:
        """The Gram matrix of the gradients that α compares, of length one where that is asked for."""
        length = gram.diagonal(dim1=1, dim2=2).clamp_min(0).sqrt()  # [m, n]
        length = torch.where(self._normalized & (length > 0), length, 1.0)
        return gram / (length[:, :, None] * length[:, None, :])

    def _move(self, gram: Tensor, now: Tensor) -> None:
        """∇_α = 2 (A α − b) with A the Gram matrix of the auxiliaries, b_k = <g_k, g_main>; `now` [m, 1]: who moves."""
        slope = 2 * (torch.einsum("mij,mj->mi", gram[:, 1:, 1:], self._alpha) - gram[:, 1:, 0])
        alpha = project(self._alpha - self._rate * slope, self._alpha.shape[1])
        self._alpha = torch.where(now, alpha, self._alpha)
        self._moves = self._moves + now
        share = torch.where(now, (RECENT + 1) / (self._moves + RECENT), 0.0)  # of this step in the means: 1 at first
        self._mean_alpha = torch.lerp(self._mean_alpha, self._alpha, share)
        self._mean_gram = torch.lerp(self._mean_gram, gram, share[:, :, None])


def minimiser(gram: Tensor) -> Tensor:
    """argmin ‖g_main − Σ α_k g_k‖² on {α ≥ 0, Σα = K}: [m, n, n] -> [m, K].

    With α = K w that is the min-norm point of the hull of h_k = g_main − K g_k. The Gram matrix of halves may have
    negative eigenvalues, which are noise: they count as 0.
    """
    k = gram.shape[1] - 1
    if k == 0:
        return gram[:, 0, 1:]
    b = gram[:, 0, 1:]
    hull = gram[:, :1, :1] - k * (b[:, :, None] + b[:, None, :]) + k * k * gram[:, 1:, 1:]  # <h_i, h_j>
    values, vectors = torch.linalg.eigh(hull.nan_to_num())  # no error for a member without numbers
    return k * min_norm.exact((vectors * values.clamp_min(0)[:, None]) @ vectors.mT)


def project(v: Tensor, total: float) -> Tensor:
    """The nearest point of {α ≥ 0, Σα = total}, row by row: max(v − θ, 0) with θ from the sorted values; [m, K].

    A constant added to v changes nothing, so the largest is moved to 0, which keeps the sum exact for large v.
    """
    if v.shape[1] == 0:
        return v
    v = v - v.amax(1, keepdim=True)
    falling = v.sort(dim=1, descending=True).values
    count = torch.arange(1, v.shape[1] + 1, device=v.device)
    theta = (falling.cumsum(1) - total) / count  # θ if the first `count` are above 0
    last = (falling > theta).sum(1, keepdim=True) - 1
    return (v - theta.gather(1, last.clamp_min(0))).clamp_min(0)
