"""The set-up of torchjd's example of two tasks: a shared module, two linear heads, random features and targets."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from paretoscope import Problem


class TwoTasks(Problem):
    """Two regressions from ten features over three shared ones."""

    terms = ("first", "second")
    metrics: ClassVar = {"first_error": "minimize", "second_error": "minimize"}

    def data(self, seed: int) -> dict[str, tuple[Tensor, ...]]:
        g = torch.Generator().manual_seed(seed)
        x, first, second = (torch.randn(160, width, generator=g) for width in (10, 1, 1))
        return {"train": (x[:128], first[:128], second[:128]), "test": (x[128:], first[128:], second[128:])}

    def model(self) -> nn.Module:
        shared = nn.Sequential(nn.Linear(10, 5), nn.ReLU(), nn.Linear(5, 3), nn.ReLU())
        return nn.ModuleDict({"shared": shared, "first": nn.Linear(3, 1), "second": nn.Linear(3, 1)})

    def losses(self, model: Any, batch: Any) -> dict[str, Tensor]:
        x, first, second = batch
        h = model["shared"](x)
        return {"first": F.mse_loss(model["first"](h), first), "second": F.mse_loss(model["second"](h), second)}

    def measure(self, model: Any, batch: Any) -> dict[str, Tensor]:
        return {f"{term}_error": value for term, value in self.losses(model, batch).items()}
