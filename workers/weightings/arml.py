"""Auxiliary task reweighting: "Auxiliary Task Reweighting for Minimum-data Learning" (Shi et al. 2020)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from service.contract.methods.weightings import Arml as Spec
from workers.weightings import Setting, Weighting

DECAY = 0.55  # of the Langevin noise, ε_t = ε (1 + t)^−0.55: the paper names none, Welling & Teh (2011) use this


class Arml(Weighting):
    """w = (1, α): α ← Π(α − lr ∇_α ‖g_main − Σ_k α_k g_k‖²), Π the projection on {α ≥ 0, Σα = K}, from α = 1.

    `two-stage` moves α only in its first steps, in which the parameters get noise N(0, 2ε_t); then α stays. The paper
    takes the learning rate for ε_t; here ε is its own, because the steps may be Adam's. `normalize` and
    `gradient_average` change what α sees; the update has the gradients of the batch as they are.
    """

    needs_gram = True

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
        self.own_gram = any(p.gradient_average != 0 for p in params)
        self._average: Tensor | None = None  # ḡ, [m, n, P]
        auxiliaries = len(setting.terms) - 1
        self._alpha = torch.ones(len(params), auxiliaries, device=setting.device, dtype=torch.float64)  # [m, K]
        self._steps = 0

    def gram(self, g: Tensor) -> Tensor:
        """Of ḡ ← d ḡ + (1 − d) g, which starts at the first g; with d = 0 that is g."""
        if not self.own_gram:
            return super().gram(g)
        self._average = g.clone() if self._average is None else torch.lerp(g, self._average, self._keep.to(g))
        return torch.bmm(self._average, self._average.mT)

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        if gram is None:
            raise ValueError("arml needs the Gram matrix of the gradients")
        self._steps += 1
        moves = [
            self._steps % every == 0 and (stage is None or self._steps <= stage)
            for every, stage in zip(self._every, self._stage, strict=True)
        ]
        if any(moves):
            now = torch.tensor(moves, device=losses.device)[:, None]
            self._alpha = torch.where(now, self._moved(gram.double()), self._alpha)
        return torch.cat((torch.ones_like(losses[:, :1]), self._alpha.to(losses)), dim=1)

    def parameter_noise(self) -> Tensor | None:
        first = [stage is not None and self._steps <= stage for stage in self._stage]
        if not any(first):
            return None
        epsilon = self._noise * math.pow(self._steps, -DECAY)  # ε_t with t = steps − 1
        return (2 * epsilon).sqrt() * torch.tensor(first, device=epsilon.device)

    def _moved(self, gram: Tensor) -> Tensor:
        """∇_α = 2 (A α − b) with A the Gram matrix of the auxiliaries and b_k = <g_k, g_main>."""
        length = gram.diagonal(dim1=1, dim2=2).clamp_min(0).sqrt()  # [m, n]
        length = torch.where(self._normalized & (length > 0), length, 1.0)
        gram = gram / (length[:, :, None] * length[:, None, :])
        slope = 2 * (torch.einsum("mij,mj->mi", gram[:, 1:, 1:], self._alpha) - gram[:, 1:, 0])
        return project(self._alpha - self._rate * slope, self._alpha.shape[1])


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
