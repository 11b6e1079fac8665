"""The ε-constraint: predict as well as a given rate allows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from service.contract.methods.weightings import TargetRate as Spec
from service.contract.metrics import INFO
from workers.weightings import Setting, Weighting

LIMIT = 0.2  # of the relative error


class TargetRate(Weighting):
    """min pred subject to info = r, by dual ascent: log β += η·clip((info − r)/r, ±LIMIT), β clamped; w = (1, β).

    An untrained code has a hundred times the rate. Unclipped, its error throws β far past its place, and latent
    dimensions that died then do not return: the rate is met with a worse prediction. `info` is the raw term of the
    batch, in nats, and of a problem of somebody's own its second term; every other term has weight 1.
    """

    needs_gram = False
    remembers = ("_log_beta",)

    def __init__(self, params: Sequence[Spec], setting: Setting) -> None:
        def each(value: Callable[[Spec], float]) -> Tensor:
            return torch.tensor([value(p) for p in params], device=setting.device)

        self._info, self._raw = setting.terms.index(INFO) if INFO in setting.terms else 1, setting.raw
        self._rate = each(lambda p: p.rate_bits) * math.log(2)  # r in nats, [m]
        self._speed = each(lambda p: p.speed)  # η
        self._low, self._high = each(lambda p: p.beta_min).log(), each(lambda p: p.beta_max).log()
        self._log_beta = each(lambda p: p.beta).log().clamp(self._low, self._high)

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        rate = self._raw(losses)[:, self._info].to(losses.dtype)
        error = ((rate - self._rate) / self._rate).clamp(-LIMIT, LIMIT)
        self._log_beta = (self._log_beta + self._speed * error).clamp(self._low, self._high)
        w = torch.ones_like(losses)
        w[:, self._info] = self._log_beta.exp()
        return w
