"""A plain nn.LSTM that reads film reviews: are they good, and how long are they?"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from paretoscope import Problem
from service.contract.methods.data import MovieReviews
from workers.data import load

WORDS, LENGTH = 1000, 24


class Reader(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS + 2, 16, padding_idx=0)
        self.lstm = nn.LSTM(16, width, batch_first=True)
        self.kind, self.length = nn.Linear(width, 2), nn.Linear(width, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        _, (h, _) = self.lstm(self.words(x))
        return self.kind(h[-1]), self.length(h[-1])[..., 0]


class Reviews(Problem):
    """Good or bad, and how many words, of the first words of a film review."""

    terms = ("kind", "length")
    metrics: ClassVar = {"acc": "maximize", "error": "minimize"}
    width: int = 16
    examples: int = 128
    source: Literal["film-reviews", "made"] = "film-reviews"

    def data(self, seed: int) -> dict[str, tuple[Tensor, ...]]:
        if self.source == "made":
            parts = {"train": made(self.examples), "test": made(64)}
        else:
            d = load(MovieReviews(vocabulary=WORDS, length=LENGTH, test_examples=64, validation_fraction=0), seed=seed)
            n = self.examples
            parts = {"train": (d.x_train[:n], d.y_train[:n]), "test": (d.x_test[:], d.y_test)}
        return {name: (x.long(), y, (x > 0).float().mean(1)) for name, (x, y) in parts.items()}

    def model(self) -> nn.Module:
        return Reader(self.width)

    def losses(self, model: nn.Module, batch: Any) -> dict[str, Tensor]:
        x, kind, length = batch
        a, b = model(x)
        return {"kind": F.cross_entropy(a, kind), "length": F.mse_loss(b, length)}

    def measure(self, model: nn.Module, batch: Any) -> dict[str, Tensor]:
        x, kind, length = batch
        a, b = model(x)
        return {"acc": (a.argmax(-1) == kind).float().mean(), "error": (b - length).abs().mean()}


def made(count: int) -> tuple[Tensor, Tensor]:
    """Numbers of words, as many and as long, of which the good have more of the frequent ones."""
    g = torch.Generator().manual_seed(count)
    kind = torch.arange(count) % 2
    words = (torch.rand(count, LENGTH, generator=g) ** (1 + kind)[:, None] * WORDS).long() + 2
    lengths = torch.randint(5, LENGTH + 1, (count, 1), generator=g)
    return torch.where(torch.arange(LENGTH) < lengths, words, 0), kind
