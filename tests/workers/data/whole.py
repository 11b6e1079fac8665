"""Data sets of which nothing is held out, unless a test asks for it: what a set contains is told by all of it."""

from __future__ import annotations

from pathlib import Path

from service.contract.methods.data import Data
from workers import data


def load(spec: Data, folder: Path | None = None) -> data.DataSet:
    if "validation_fraction" not in spec.model_fields_set:
        spec = spec.model_copy(update={"validation_fraction": 0.0})
    return data.load(spec, folder)
