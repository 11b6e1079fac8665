"""Tables: numbers standardised by the training split, categories as one-hot vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from service.contract.methods.examples import Table
from workers.data import Draw
from workers.data.assembly import Encode, Facts, Inputs, assemble
from workers.data.preparing import prepared
from workers.data.preparing.recipes import Recipe


def load(recipe: Recipe, spec: Table, folder: Path, categorical: Sequence[int] = ()) -> Draw:
    """The data set, prepared first when only its source files are there; `categorical` columns hold codes 0, 1, …"""
    splits = prepared.open_or_prepare(recipe, folder)
    widths = [0] * splits.train_images.shape[-1]
    for column in categorical:
        widths[column] = int(splits.train_images[..., column].max()) + 1
    facts = Facts(recipe.classes, (0.0,), (1.0,), recipe.tasks)
    return assemble(splits, spec, facts, columns(widths)(splits.train_images), spec.test_examples)


def columns(widths: Sequence[int]) -> Callable[[Inputs], Encode]:
    """Rows [n, 1, 1, columns] → [n, features]: a column of width 0 is a number, else one of so many categories.

    A category that training does not have has the code −1 and sets nothing.
    """

    def fit(train: Inputs) -> Encode:
        rows = train[:, 0, 0].astype(np.float64)
        mean, std = rows.mean(0), rows.std(0)
        std[std == 0] = 1

        def encode(inputs: Inputs) -> Tensor:
            rows = inputs[:, 0, 0]
            out = np.zeros((len(rows), sum(width or 1 for width in widths)), dtype=np.float32)
            start = 0
            for column, width in enumerate(widths):
                if width == 0:
                    out[:, start] = (rows[:, column] - mean[column]) / std[column]
                else:
                    known = np.flatnonzero(rows[:, column] >= 0)
                    out[known, start + rows[known, column].astype(np.int64)] = 1
                start += width or 1
            return torch.from_numpy(out)

        return encode

    return fit
