"""Averaged weights: what is measured and kept instead of the last ones (Polyak & Juditsky 1992)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from service.contract.study.study import Training
from workers.optimizers.stacking.stacked import per_member
from workers.state import Remembering


class Averages(Remembering):
    """θ̄_t = Σ_s d^(t−s) θ_s / Σ_s d^(t−s) over the steps s = 1 … t, one decay d per member; θ_t itself where d = 0."""

    remembers = ("_sums", "_t")

    def __init__(self, parameters: Sequence[Tensor], decay: Tensor) -> None:
        self._parameters, self._decay = list(parameters), decay  # [K, P] each, [K]
        self._sums = [torch.zeros_like(p) for p in parameters]  # (1 − d) Σ_s d^(t−s) θ_s
        self._new = per_member(1 - decay, parameters)
        self._t = 0

    @torch.no_grad()
    def follow(self) -> None:
        """After a step of the optimiser."""
        self._t += 1
        torch._foreach_lerp_(self._sums, self._parameters, self._new)

    @contextmanager
    def worn(self) -> Iterator[None]:
        """The parameters are their averages for as long as this lasts."""
        if not self._t:
            yield
            return
        last = [p.clone() for p in self._parameters]
        shares = per_member(1 - self._decay.double() ** self._t, self._parameters)
        with torch.no_grad():
            for p, total, share in zip(self._parameters, self._sums, shares, strict=True):
                p.copy_(total / share)
        try:
            yield
        finally:
            with torch.no_grad():
                torch._foreach_copy_(self._parameters, last)


def averages_of(trainings: Sequence[Training], parameters: Sequence[Tensor]) -> Averages | None:
    """None where no member is averaged."""
    decays = [training.average for training in trainings]
    if not any(decays):
        return None
    return Averages(parameters, torch.tensor(decays, device=parameters[0].device))
