"""The information bottleneck: predict the label from a code that says little about the input."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from service.contract.problems import Bottleneck as Spec
from workers.models import Model
from workers.problems import rates, transforms
from workers.problems.rates import Code


class Bottleneck:
    """Terms pred = mean cross-entropy and info = u(mean rate), in nats; β multiplies info (MIB paper, eq. 36)."""

    terms = Spec.terms

    def __init__(self, spec: Spec, latent: int) -> None:
        self._rate = rates.build(str(spec.rate))
        # Without a rate there is nothing to transform: info stays 0.
        self._transform = transforms.build(spec) if spec.rate != "none" else None
        self.latent = latent
        self.outputs = self._rate.outputs(latent)
        self.scalars = self._rate.scalars

    def losses(self, model: Model, s: tuple[Tensor, ...], y: Tensor, noise: Tensor) -> list[Tensor]:
        code = self._rate.code(s)
        logits = model.decode(self._rate.sample(code, noise))  # [K, B, classes]
        pred = functional.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="none")
        info = self._rate.nats(code).mean(1)
        return [pred.view(y.shape).mean(1), self._transform.u(info) if self._transform else info]

    def raw(self, losses: Tensor) -> Tensor:
        if self._transform is None:
            return losses
        out, i = losses.to(torch.float64, copy=True), self.terms.index("info")
        out[..., i] = self._transform.inverse(out[..., i])  # u is increasing, so nothing is lost but rounding
        return out

    def code(self, s: tuple[Tensor, ...]) -> Code:
        return self._rate.code(s)

    def rate(self, s: tuple[Tensor, ...]) -> Tensor:
        return rates.kl_to_prior(self._rate.code(s))

    def logits(self, model: Model, s: tuple[Tensor, ...], noise: Tensor) -> Tensor:
        return model.decode(self._rate.sample(self._rate.code(s), noise))
