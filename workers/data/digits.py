"""scikit-learn's handwritten digits, read from its package data: importing scikit-learn costs seconds."""

from __future__ import annotations

import gzip
import importlib.util
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from service.contract.data import Digits
from workers.data import DataSet

SPLIT_SEED = 0


def load(spec: Digits) -> DataSet:
    """8×8 images as 64 pixels in [0, 1], split by class with a fixed permutation, the same in every study."""
    table = _table()
    x = torch.from_numpy((table[:, :-1] / np.float32(16)).astype(np.float32))  # [1797, 64]
    labels = table[:, -1].astype(np.int64)
    train, test = _stratified(labels, spec.test_fraction)
    y = torch.from_numpy(labels)
    return DataSet(x[train], y[train], x[test], y[test], classes=10)


def _table() -> NDArray[np.uint8]:
    found = importlib.util.find_spec("sklearn")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("data 'digits' is read from scikit-learn's files: install scikit-learn")
    raw = gzip.decompress((Path(found.origin).parent / "datasets/data/digits.csv.gz").read_bytes())
    rows = raw.decode().strip().replace("\n", ",").split(",")
    return np.array([float(v) for v in rows]).astype(np.uint8).reshape(-1, 65)


def _stratified(labels: NDArray[np.int64], test_fraction: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Per class the same share (at least one image on each side), then both splits shuffled."""
    rng = np.random.default_rng(SPLIT_SEED)
    train, test = [], []
    for c in np.unique(labels):
        members = rng.permutation(np.flatnonzero(labels == c))
        count = min(max(round(test_fraction * len(members)), 1), len(members) - 1)
        test.append(members[:count])
        train.append(members[count:])
    shuffled = (rng.permutation(np.concatenate(part)) for part in (train, test))
    first, second = (torch.from_numpy(part) for part in shuffled)
    return first, second
