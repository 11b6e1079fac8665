"""The information bottleneck: predict the label from a code that says little about the input."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

from service.contract.problems import Bottleneck as Spec
from workers.models import Model
from workers.problems import rates


class Bottleneck:
    """Terms pred = mean cross-entropy and info = mean rate, in nats; β multiplies info (seed 002 eq. 36)."""

    terms = Spec.terms

    def __init__(self, spec: Spec, latent: int) -> None:
        self._rate = rates.build(spec.rate)
        self.latent = latent
        self.outputs = self._rate.outputs(latent)

    def losses(self, model: Model, s: tuple[Tensor, ...], y: Tensor, noise: Tensor) -> list[Tensor]:
        code = self._rate.code(s)
        logits = model.decode(self._rate.sample(code, noise))  # [K, B, classes]
        pred = functional.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="none")
        return [pred.view(y.shape).mean(1), self._rate.nats(code).mean(1)]

    def rate(self, s: tuple[Tensor, ...]) -> Tensor:
        return self._rate.nats(self._rate.code(s))

    def logits(self, model: Model, s: tuple[Tensor, ...], noise: Tensor) -> Tensor:
        return model.decode(self._rate.sample(self._rate.code(s), noise))
