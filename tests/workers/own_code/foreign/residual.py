"""torchvision's resnet18, as it is, under two heads."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torchvision.models import resnet18

from paretoscope import Problem


class Heads(nn.Module):
    """The brightest quarter of a picture, and how bright the whole is."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = resnet18()
        self.trunk.fc = nn.Identity()
        self.quarter, self.light = nn.Linear(512, 4), nn.Linear(512, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h = self.trunk(x)
        return self.quarter(h), self.light(h)[..., 0]


class Residual(Problem):
    """A residual network that sees two things in a picture."""

    terms = ("quarter", "light")
    metrics: ClassVar = {"acc": "maximize", "error": "minimize"}

    def data(self, seed: int) -> dict[str, tuple[Tensor, ...]]:
        x = torch.rand(40, 3, 32, 32, generator=torch.Generator().manual_seed(1))
        quarter, light = torch.arange(40) % 4, torch.linspace(-1, 1, 40)
        for picture, place in zip(x, quarter.tolist(), strict=True):
            picture[:, place // 2 * 16 :, place % 2 * 16 :][:, :16, :16] += 1
        every = (x + light[:, None, None, None], quarter, light)
        return {"train": tuple(t[::2] for t in every), "test": tuple(t[1::4] for t in every)}

    def model(self) -> nn.Module:
        return Heads()

    def losses(self, model: nn.Module, batch: Any) -> dict[str, Tensor]:
        x, quarter, light = batch
        a, b = model(x)
        return {"quarter": F.cross_entropy(a, quarter), "light": F.mse_loss(b, light)}

    def measure(self, model: nn.Module, batch: Any) -> dict[str, Tensor]:
        x, quarter, light = batch
        a, b = model(x)
        return {"acc": (a.argmax(-1) == quarter).float().mean(), "error": (b - light).abs().mean()}
