"""From prepared images to a DataSet: choose, make labels wrong, scale to [0, 1], flatten."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from service.contract.data import Images
from workers.data import DataSet, prepared, selection
from workers.data.recipes import Recipe


def load(recipe: Recipe, spec: Images, folder: Path) -> DataSet:
    """The data set, prepared first when only its source files are there."""
    splits = prepared.open_or_prepare(recipe, folder)
    train = selection.share_of(splits.train_labels, spec.train_fraction)
    test = selection.by_class(splits.test_labels, spec.test_images or len(splits.test_labels))
    y_train = selection.with_noise(splits.train_labels[train], spec.label_noise, recipe.classes)
    _, channels, height, width = splits.train_images.shape
    return DataSet(
        _pixels(splits.train_images, train),
        torch.from_numpy(y_train),
        _pixels(splits.test_images, test),
        torch.from_numpy(splits.test_labels[test]),
        recipe.classes,
        (channels, height, width),
        recipe.mean,
        recipe.std,
    )


def _pixels(images: NDArray[np.uint8], chosen: NDArray[np.int64]) -> Tensor:
    """Only the chosen images leave the mapped file: [n, C·H·W] in [0, 1]."""
    return torch.from_numpy(images[chosen]).flatten(1).float().div_(255)
