"""scikit-learn's handwritten digits, read from its package data: importing scikit-learn costs seconds."""

from __future__ import annotations

import gzip
import importlib.util
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from service.contract.methods.data import Digits
from workers.data import Draw, coarse, selection
from workers.data.files.splits import Splits


def load(spec: Digits, folder: Path) -> Draw:
    """8×8 images as 64 pixels in [0, 1], split by class with a fixed permutation, the same in every study."""
    # Not above: torch, which `paretoscope data` does without when it asks for `source`.
    from workers.data.assembly import Facts, as_bytes, assemble

    table = _table()
    images = table[:, :-1].reshape(-1, 1, 8, 8)
    labels = table[:, -1].astype(np.int64)
    train, test = selection.split_by_class(labels, spec.test_fraction)
    splits = Splits(images[train], labels[train], images[test], labels[test])
    facts = Facts(10, mean=(0.3053,), std=(0.3761,), coarse=coarse.DIGITS, brightest=16)
    return assemble(splits, spec, facts, as_bytes, spec.test_images)


def source() -> Path:
    """The file in scikit-learn's package."""
    package = importlib.util.find_spec("sklearn")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("data 'digits' is read from scikit-learn's files: install scikit-learn")
    return Path(package.origin).parent / "datasets/data/digits.csv.gz"


def _table() -> NDArray[np.uint8]:
    raw = gzip.decompress(source().read_bytes())
    rows = raw.decode().strip().replace("\n", ",").split(",")
    return np.array([float(v) for v in rows]).astype(np.uint8).reshape(-1, 65)
