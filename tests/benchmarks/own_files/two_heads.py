"""A user's file: digits and their shapes by two heads over one MLP, of the size of our own."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.nn import functional as F

from paretoscope import Problem

SHAPES = torch.tensor([0, 1, 2, 2, 1, 2, 0, 1, 0, 0])  # loops, straight lines, open curves


class TwoHeads(Problem):
    """Which digit, and which shape."""

    terms = ("digit", "shape")
    metrics: ClassVar = {"acc-digit": "maximize", "acc-shape": "maximize"}

    def data(self, seed: int) -> dict[str, tuple[Tensor, ...]]:
        digits = load_digits()
        x, y = torch.tensor(digits.data / 16, dtype=torch.float32), torch.tensor(digits.target)
        order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
        parts = {"train": order[len(x) // 5 :], "test": order[: len(x) // 5]}
        return {name: (x[rows], y[rows], SHAPES[y[rows]]) for name, rows in parts.items()}

    def model(self) -> nn.Module:
        layers = [nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 16), nn.ReLU()]
        return nn.ModuleDict({"body": nn.Sequential(*layers), "digit": nn.Linear(16, 10), "shape": nn.Linear(16, 3)})

    def losses(self, model: Any, batch: Any) -> dict[str, Tensor]:
        x, digit, shape = batch
        h = model["body"](x)
        return {"digit": F.cross_entropy(model["digit"](h), digit), "shape": F.cross_entropy(model["shape"](h), shape)}

    def measure(self, model: Any, batch: Any) -> dict[str, Tensor]:
        x, digit, shape = batch
        h = model["body"](x)
        right = {"digit": model["digit"](h).argmax(-1) == digit, "shape": model["shape"](h).argmax(-1) == shape}
        return {f"acc-{term}": each.float().mean() for term, each in right.items()}
