"""Symbols with deterministic labels."""

from __future__ import annotations

from pathlib import Path

from service.contract.methods.data import Toy
from workers.data import DataSet

MADE = "made on the fly"


def load(spec: Toy, folder: Path) -> DataSet:
    """Symbols 0, 1, 2, … in turn as one-hot vectors, label = symbol mod classes; each symbol once in the test split."""
    import torch  # not above: `paretoscope data` lists without it

    def split(count: int) -> tuple[torch.Tensor, torch.Tensor]:
        symbols = torch.arange(count) % spec.symbols
        return torch.eye(spec.symbols)[symbols], symbols % spec.classes

    train, test = split(spec.train_samples), split(spec.symbols)
    return DataSet(*train, *test, spec.classes, (1, 1, spec.symbols), mean=(1 / spec.symbols,), std=(1.0,))
