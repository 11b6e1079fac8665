"""One task alone."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from service.contract.methods.weightings import Single as Spec
from workers.weightings import Setting, Weighting


class Single(Weighting):
    """w = e_task: the encoder learns from one term; the heads learn from their own in any case."""

    needs_gram = False

    def __init__(self, params: Sequence[Spec], setting: Setting) -> None:
        for task in (p.task for p in params):
            if task not in setting.terms:
                raise ValueError(f"weighting.task must be one of {', '.join(setting.terms)}, got {task!r}")
        rows = [[float(term == p.task) for term in setting.terms] for p in params]
        self._w = torch.tensor(rows, device=setting.device)  # [m, n]

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        return self._w
