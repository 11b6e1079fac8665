"""One network for every β by a closed form: "Flexible Variational Information Bottleneck" (Kudo et al. 2024)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from service.contract.methods.weightings import Fvib as Spec
from service.contract.wire.events import Where
from workers.weightings import Place, Setting, Weighting


def at_beta(spec: Spec, beta: float) -> list[float]:
    """What a model of the closed form is told at a β; ValueError where it lies outside the range."""
    spec.beta.share(beta)
    return [beta]


class Fvib(Weighting):
    """w = (1, β) at the middle of the range, and the model is told this β throughout.

    Of the closed form, pred + β·info has the gradient of (1 − β)·½‖h(x) − c_y‖², with c_y the corner of the class: the
    same for every β but for its length, so that descending one of them descends all.
    """

    needs_gram = False

    def __init__(self, params: Sequence[Spec], setting: Setting) -> None:
        self._points = params[0].points
        self._betas = [p.beta for p in params]
        self._device = setting.device
        self._middle = self._told([betas.spread(1)[0] for betas in self._betas])  # [m, 1, 1]

    def _told(self, betas: Sequence[float]) -> Tensor:
        return torch.tensor(betas, device=self._device)[:, None, None]

    def told(self, epoch: int, step: int, rows: int) -> Tensor:
        return self._middle

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        beta = self._middle[:, :, 0].to(losses)
        return torch.cat([torch.ones_like(beta), beta], dim=1)

    def middle(self) -> Tensor:
        return self._middle

    def places(self) -> list[Place]:
        """Evenly along the range of β from its least."""
        spreads = [betas.spread(self._points) for betas in self._betas]
        return [self._place([betas[i] for betas in spreads]) for i in range(self._points)]

    def _place(self, betas: Sequence[float]) -> Place:
        where: list[Where] = [{"beta": beta} for beta in betas]
        return Place(where, self._told(betas))
