"""The toy data set: symbols with deterministic labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from service.contract.methods.data import Toy
from workers.data import DataSet, Draw, selection

MADE = "made on the fly"


def load(spec: Toy, folder: Path) -> Draw:
    """Symbols 0, 1, 2, … in turn as one-hot vectors, label = symbol mod classes; each symbol once in the test split."""
    import torch  # not above: `paretoscope data` lists without it

    from workers.data.pool import Rows

    symbols = torch.arange(spec.train_samples) % spec.symbols
    inputs, labels = torch.eye(spec.symbols), torch.arange(spec.symbols) % spec.classes
    everyone = np.arange(spec.train_samples)

    def draw(seed: int | None) -> DataSet:
        chosen = selection.held_out(symbols.numpy(), everyone, spec.validation_fraction, seed)
        train, validation = (symbols[torch.from_numpy(places)] for places in chosen)
        return DataSet(
            Rows(inputs, train),
            labels[train],
            Rows.all_of(inputs),
            labels,
            spec.classes,
            (1, 1, spec.symbols),
            mean=(1 / spec.symbols,),
            std=(1.0,),
            x_validation=Rows(inputs, validation) if len(validation) else None,
            y_validation=labels[validation] if len(validation) else None,
            seed=seed,
        )

    return draw
