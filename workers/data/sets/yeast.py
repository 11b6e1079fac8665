"""Yeast (Elisseeff, Weston 2002): what genes do, 14 yes-or-no labels, from measurements of their expression."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from service.contract.methods.data import Yeast
from service.contract.wire.errors import InvalidInput
from workers.data import Draw
from workers.data.files.splits import Splits
from workers.data.preparing.recipes import Download, Files, Place, Recipe, text_of

FILE = "yeast.csv"
FEATURES, LABELS = 103, 14
TRAINED = 1500 / 2417  # as many to train on as in the usual split
SPLIT_SEED = 0


def rows(files: Files) -> Splits:
    """One table with a header: 103 numbers, then 14 labels. Which genes are trained on is drawn once."""
    header, *lines = csv.reader(text_of(files[FILE]).splitlines())
    if len(header) != FEATURES + LABELS:
        raise InvalidInput(f"{FILE} has {len(header)} columns, not {FEATURES} features and {LABELS} labels")
    table = np.array(lines, dtype=np.float64)
    order = np.random.default_rng(SPLIT_SEED).permutation(len(table))
    train, test = np.split(table[order], [round(TRAINED * len(table))])

    def split(part: NDArray[np.float64]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        return part[:, None, None, :FEATURES].astype(np.float32), part[:, FEATURES:].astype(np.int64)

    return Splits(*split(train), *split(test))


RECIPE = Recipe(
    "yeast",
    places=(
        Place("your own file", "yeast", (FILE,), rows),
        Place("Python package river", "river-0.26.1-*.whl", (FILE,), rows),
    ),
    downloads=(Download("Python package river (3 MB)", "pip", "river==0.26.1"),),
    classes=2,
    tasks=Yeast().columns,
    things="genes",
)


def load(spec: Yeast, folder: Path) -> Draw:
    from workers.data.preparing import tabular

    return tabular.load(RECIPE, spec, folder)
