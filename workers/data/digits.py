"""scikit-learn's handwritten digits, read from its package data: importing scikit-learn costs seconds."""

from __future__ import annotations

import gzip
import importlib.util
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from service.contract.data import Digits
from workers.data import DataSet, selection

Indices = NDArray[np.int64]

SPLIT_SEED = 0


def load(spec: Digits, folder: Path) -> DataSet:
    """8×8 images as 64 pixels in [0, 1], split by class with a fixed permutation, the same in every study."""
    import torch  # not above: `paretoscope data` asks for `source` without it

    table = _table()
    x = torch.from_numpy((table[:, :-1] / np.float32(16)).astype(np.float32))  # [1797, 64]
    labels = table[:, -1].astype(np.int64)
    train, test = _stratified(labels, spec.test_fraction)
    train = train[selection.share_of(labels[train], spec.train_fraction)]
    test = test[selection.by_class(labels[test], spec.test_images or len(test))]
    y_train = torch.from_numpy(selection.with_noise(labels[train], spec.label_noise, classes=10))
    y_test = torch.from_numpy(labels[test])
    return DataSet(x[train], y_train, x[test], y_test, 10, (1, 8, 8), mean=(0.3053,), std=(0.3761,))


def source() -> Path:
    """The file in scikit-learn's package."""
    found = importlib.util.find_spec("sklearn")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("data 'digits' is read from scikit-learn's files: install scikit-learn")
    return Path(found.origin).parent / "datasets/data/digits.csv.gz"


def _table() -> NDArray[np.uint8]:
    raw = gzip.decompress(source().read_bytes())
    rows = raw.decode().strip().replace("\n", ",").split(",")
    return np.array([float(v) for v in rows]).astype(np.uint8).reshape(-1, 65)


def _stratified(labels: NDArray[np.int64], test_fraction: float) -> tuple[Indices, Indices]:
    """Per class the same share (at least one image on each side), then both splits shuffled."""
    rng = np.random.default_rng(SPLIT_SEED)
    train, test = [], []
    for c in np.unique(labels):
        members = rng.permutation(np.flatnonzero(labels == c))
        count = min(max(round(test_fraction * len(members)), 1), len(members) - 1)
        test.append(members[:count])
        train.append(members[count:])
    return rng.permutation(np.concatenate(train)), rng.permutation(np.concatenate(test))
