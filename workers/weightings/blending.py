"""Gradient blending: "What makes training multi-modal classification networks hard?" (Wang et al. 2020)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from service.contract.methods.weightings import Blending as Spec
from workers.weightings import Setting, Weighting

TINY = 1e-12  # of O²: a term that does not overfit at all


class Blending(Weighting):
    """w_i ∝ max(G_i, 0) / O_i², Σw = 1: G how fast the validation loss falls in the window, O how fast its gap to the
    training loss grows, the slopes of lines through the smoothed curves. Equal weights until the warm-up is over.

    O² counts as at least τ² G_i Ḡ, Ḡ the mean of the G: below that it is noise, whose inverse square would decide
    alone. Terms that do not overfit so have equal weights. The normaliser is the sum itself and O is of
    validation − train (MixNet's supplement: half of it, and −O).
    """

    needs_gram = False
    needs_validation = True
    remembers = ("_curves", "_epoch", "_w")
    members_second = ("_curves",)

    def __init__(self, params: Sequence[Spec], setting: Setting) -> None:
        def each(value: Callable[[Spec], float]) -> Tensor:
            values = [[float(value(p))] for p in params]
            return torch.tensor(values, device=setting.device, dtype=torch.float64)  # [m, 1]

        self._window, self._warm_up = each(lambda p: p.window), each(lambda p: p.warm_up)
        self._keep, self._floor = each(lambda p: p.smoothing), each(lambda p: p.floor)
        self._tolerance = each(lambda p: p.tolerance)  # τ
        self._longest = int(self._window.max())
        self._curves: list[Tensor] = []  # the last epochs: validation and gap, smoothed, [2, m, n] each
        self._epoch = 0
        n = len(setting.terms)
        self._w = torch.full((len(params), n), 1 / n, device=setting.device, dtype=torch.float64)

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        return self._w.to(losses)

    def after_epoch(self, train: Tensor, validation: Tensor) -> None:
        """Where no term generalises, the weights stay."""
        self._epoch += 1
        now = torch.stack((validation, validation - train)).double()  # [2, m, n]
        smooth = torch.lerp(now, self._curves[-1], self._keep) if self._curves else now
        self._curves = [*self._curves, smooth][-self._longest :]
        fall, o = self._slopes()  # −G and O
        g = (-fall).clamp_min(0)
        least = self._tolerance.square() * g * g.mean(1, keepdim=True)
        value = g / torch.maximum(o.square(), least).clamp_min(TINY)  # [m, n]
        total = value.sum(1, keepdim=True)
        share = (1 - self._floor) * value / total + self._floor / value.shape[1]
        # One epoch has no slope, 0/0, and changes nothing.
        usable = (total > 0) & total.isfinite() & (self._epoch >= self._warm_up)
        self._w = torch.where(usable, share, self._w)

    def _slopes(self) -> Tensor:
        """Of both curves over each member's window, by least squares: [2, m, n]."""
        y = torch.stack(self._curves)  # [T, 2, m, n]
        t = torch.arange(len(y), device=y.device, dtype=y.dtype)[:, None, None]
        inside = (t >= len(y) - self._window).to(y)  # [T, m, 1]
        x = inside * (t - (inside * t).sum(0) / inside.sum(0))
        return (x[:, None] * y).sum(0) / x.square().sum(0)
