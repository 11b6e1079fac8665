"""A network h(x) with code and decoder of flexible VIB (Kudo et al. 2024): both follow from β by a closed form."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from workers.balance import Pair
from workers.models import ALL, Model
from workers.models.components.latent_code import Code

RHO = 5.0  # rate vib has σ = softplus(ρ − 5)


def corners(classes: int) -> Tensor:
    """The corners c_y of a regular simplex around 0, a row each, with C Cᵀ = d·I − 11ᵀ and Cᵀ C = d·I: [d, d − 1].

    √d times the orthonormal basis of what sums to 0 that Helmert's contrasts are.
    """
    k = torch.arange(1, classes, dtype=torch.float64)  # of each contrast: k ones, then −k
    rows = torch.arange(classes, dtype=torch.float64)[:, None]
    contrasts = torch.where(rows < k, 1.0, torch.where(rows == k, -k, 0.0)) / (k * (k + 1)).sqrt()
    return contrasts * math.sqrt(classes)


def sharpness(classes: int, confidence: float | None) -> float:
    """1/T: what logits are multiplied by so that a code at a corner, without noise, has its class with `confidence` c.

    Between its class and any other lie d logits: d/T = ln(d − 1) + ln(c/(1 − c)).
    """
    if confidence is None:
        return 1.0
    if confidence <= 1 / classes:
        raise ValueError(f"confidence must be above chance, 1/{classes}, got {confidence}")
    return (math.log(classes - 1) + math.log(confidence / (1 - confidence))) / classes


class ClosedForm:
    """z ~ N(√(1−β) h(x), β I), logits √(1−β) C z/T. β is told; only h is trained.

    Its encoder's outputs are those of rate vib, means and ρ, so that everything that measures such a code measures this
    one. The decoder's weights C/T stand in the head, which no term has a gradient for; `sharp` is 1/T.
    """

    def __init__(self, model: Model, classes: int, sharp: float) -> None:
        self._model = model
        self.encoder, self.head = model.encoder, model.head
        weight, bias = self.head.leaves[0], self.head.leaves[1]
        self._corners = corners(classes).to(weight)  # [d, d − 1]
        with torch.no_grad():
            weight.copy_((sharp * self._corners).mT)
            bias.zero_()
        self._beta: Tensor | None = None  # [K, 1, 1]

    @property
    def buffers(self) -> dict[str, Tensor]:
        own: dict[str, Tensor] = getattr(self._model, "buffers", {})
        return own

    @property
    def beta(self) -> Tensor:
        if self._beta is None:
            raise ValueError("the closed form was told no β: condition the model first")
        return self._beta

    def condition(self, t: Tensor) -> None:
        """The β of each member from now on: [K, 1, 1]."""
        self._beta = t

    def train(self, on: bool) -> None:
        self._model.train(on)

    def encode(self, x: Tensor) -> tuple[Tensor, ...]:
        h = self._model.encode(x)[0]  # [K, B, d − 1]
        rho = RHO + self.beta.sqrt().expm1().log()  # softplus turns it into √β
        return (torch.cat([(1 - self.beta).sqrt() * h, rho.expand_as(h)], dim=-1),)

    def decode(self, z: Tensor, head: int = 0, rows: slice = ALL) -> Tensor:
        return self._model.decode((1 - self.beta).sqrt() * z, head, rows)

    def distortion(self, code: Code, y: Tensor) -> Tensor:
        """E[−ln q(y|z)] to second order in z, T = 1: ln d − √(1−β) c_y·μ + ½(1−β)(‖μ‖² + tr Σ), [K, B]."""
        kept = 1 - self.beta  # of Wᵀ(I/d − 11ᵀ/d²)W = (1−β) I
        aimed = (kept.sqrt() * self._corners[y] * code.mean).sum(-1)
        squares = (code.mean.square() + code.scale.square()).sum(-1)
        return math.log(len(self._corners)) - aimed + 0.5 * kept[..., 0] * squares

    def named(self) -> dict[str, Tensor]:
        return self._model.named()

    def pairs(self, code: bool = False) -> list[Pair]:
        return self._model.pairs(code)
