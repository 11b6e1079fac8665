"""The IDX files of MNIST and its relatives: two zero bytes, the type, the dimensions, sizes, then the values."""

from __future__ import annotations

import gzip
import math

import numpy as np
from numpy.typing import NDArray

from service.contract.wire.errors import InvalidInput
from workers.data.files.splits import Splits

IMAGES = {"train": "train-images-idx3-ubyte", "test": "t10k-images-idx3-ubyte"}
LABELS = {"train": "train-labels-idx1-ubyte", "test": "t10k-labels-idx1-ubyte"}
NAMES = (*IMAGES.values(), *LABELS.values())
UNSIGNED_BYTE = 8


def parse(raw: bytes) -> NDArray[np.uint8]:
    """An array of unsigned bytes, gzipped or not."""
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    if len(raw) < 4 or raw[:3] != bytes([0, 0, UNSIGNED_BYTE]):
        raise InvalidInput(f"not an IDX file of bytes: it begins with {raw[:4].hex() or 'nothing'}")
    start = 4 + 4 * raw[3]
    if len(raw) < start:
        raise InvalidInput(f"a damaged IDX file: it ends after {len(raw)} bytes, in its header")
    sizes = np.frombuffer(raw[4:start], dtype=">u4").tolist()
    if len(raw) - start != math.prod(sizes):
        raise InvalidInput(f"a damaged IDX file: sizes {sizes}, but {len(raw) - start:,} bytes of values")
    return np.frombuffer(raw, dtype=np.uint8, offset=start).reshape(sizes)


def splits(files: dict[str, bytes]) -> Splits:
    """The four files as grey images [N, 1, H, W] with labels."""
    images = {split: parse(files[name])[:, None] for split, name in IMAGES.items()}
    labels = {split: parse(files[name]).astype(np.int64) for split, name in LABELS.items()}
    return Splits(images["train"], labels["train"], images["test"], labels["test"])
