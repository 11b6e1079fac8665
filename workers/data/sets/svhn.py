"""SVHN (Netzer et al. 2011): 32×32 colour images of digits on house fronts."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from service.contract.methods.data import Svhn
from service.contract.wire.errors import InvalidInput
from workers.data import Draw, coarse
from workers.data.files.splits import Splits
from workers.data.preparing.recipes import Download, Files, Place, Recipe

TRAIN, TEST = "train_32x32.mat", "test_32x32.mat"


def matrices(files: Files) -> Splits:
    """MATLAB's files: X [32, 32, 3, N] and y [N, 1], in which 10 stands for the digit 0."""
    return Splits(*_split(files[TRAIN], TRAIN), *_split(files[TEST], TEST))


def _split(raw: bytes, name: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        arrays = loadmat(io.BytesIO(raw), variable_names=["X", "y"])
    except (MatReadError, NotImplementedError) as error:
        raise InvalidInput(f"{name} is not a MATLAB file: {error}") from error
    if not {"X", "y"} <= set(arrays) or arrays["X"].ndim != 4 or arrays["X"].dtype != np.uint8:
        raise InvalidInput(f"{name} holds no images X of bytes with labels y")
    return arrays["X"].transpose(3, 2, 0, 1), arrays["y"].ravel().astype(np.int64) % 10


RECIPE = Recipe(
    "svhn",
    places=(
        Place("torchvision's files", ".", (TRAIN, TEST), matrices),
        Place("published files", "svhn", (TRAIN, TEST), matrices),
    ),
    downloads=(Download("torchvision's download (246 MB)", "torchvision", "SVHN", splits=("train", "test")),),
    mean=(0.4377, 0.4438, 0.4728),
    std=(0.1980, 0.2010, 0.1970),
    coarse=coarse.DIGITS,
)


def load(spec: Svhn, folder: Path) -> Draw:
    from workers.data.preparing import images

    return images.load(RECIPE, spec, folder)
