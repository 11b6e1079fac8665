"""From published splits to draws: choose examples, hold some out, make labels wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from service.contract.methods.examples import Labelled
from workers.data import DataSet, Draw, Targets, selection
from workers.data.files.splits import Splits
from workers.data.pool import Rows

Inputs = NDArray[Any]  # [n, C, H, W] as published
Encode = Callable[[Inputs], Tensor]  # → [n, features], bytes or floats
Portion = Callable[[int | None], selection.Portions]  # by the seed of a draw

BLOCK = 4096  # inputs that are looked at together


@dataclass(frozen=True)
class Facts:
    """What is known of a data set beside its examples."""

    classes: int
    mean: tuple[float, ...] = ()  # none: measured on the training split
    std: tuple[float, ...] = ()
    tasks: Sequence[str] = ()  # one per column of labels
    coarse: tuple[int, ...] = ()
    vocabulary: int = 0
    brightest: int = 255  # of inputs that are bytes


def assemble(
    splits: Splits,
    spec: Labelled,
    facts: Facts,
    encode: Encode,
    test_count: int | None = None,
    portion: Portion | None = None,
) -> Draw:
    """Draws that share their inputs; `encode` may have looked at the training split, never at the test split."""
    columns = splits.train_labels.reshape(len(splits.train_labels), -1)  # [N, tasks]
    test_columns = splits.test_labels.reshape(len(splits.test_labels), -1)
    pool, test_pool = encode(splits.train_images), encode(splits.test_images)
    shape = _shape(splits.train_images, pool)
    mean, std = (facts.mean, facts.std) if facts.mean else moments(Rows.all_of(pool, facts.brightest), shape[0])

    def draw(seed: int | None) -> DataSet:
        if portion is None:
            chosen = selection.portions(columns[:, 0], test_columns[:, 0], spec, test_count, seed)
        else:
            chosen = portion(seed)
        held = len(chosen.validation) > 0

        def targets(t: int) -> Targets:
            noisy = selection.with_noise(columns[chosen.train, t], spec.label_noise, facts.classes, t, seed)
            validation = _tensor(columns[chosen.validation, t]) if held else None
            return Targets(_tensor(noisy), _tensor(test_columns[chosen.test, t]), facts.classes, validation)

        def rows(inputs: Tensor, places: NDArray[np.int64]) -> Rows:
            return Rows(inputs, _tensor(places), facts.brightest)

        main = targets(0)
        return DataSet(
            rows(pool, chosen.train),
            main.train,
            rows(test_pool, chosen.test),
            main.test,
            facts.classes,
            shape,
            mean,
            std,
            tasks={name: targets(t) for t, name in enumerate(facts.tasks)},
            labelled=None if chosen.labelled is None else torch.from_numpy(chosen.labelled),
            x_validation=rows(pool, chosen.validation) if held else None,
            y_validation=main.validation,
            coarse=facts.coarse,
            vocabulary=facts.vocabulary,
            seed=seed,
        )

    return draw


def as_bytes(images: Inputs) -> Tensor:
    """[n, C, H, W] → [n, C·H·W], as they are: a mapped file stays one, what is read-only is copied."""
    return torch.from_numpy(images if images.flags.writeable else images.copy()).flatten(1)


def _shape(inputs: Inputs, encoded: Tensor) -> tuple[int, int, int]:
    """Channels, height and width; of what is no image any more, all features in a row."""
    channels, height, width = inputs.shape[1:]
    same = encoded.shape[1] == channels * height * width
    return (channels, height, width) if same else (1, 1, encoded.shape[1])


def moments(inputs: Rows, channels: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and standard deviation of each channel, over all rows; a block at a time, since the pool may be large."""
    sums = torch.zeros(2, channels, dtype=torch.float64)
    for start in range(0, len(inputs), BLOCK):
        x = inputs[start : start + BLOCK].double().view(-1, channels, inputs.features // channels)
        sums += torch.stack((x.sum((0, 2)), x.square().sum((0, 2))))
    count = len(inputs) * (inputs.features // channels)
    mean = sums[0] / count
    variance = (sums[1] - count * mean.square()) / max(1, count - 1)
    return tuple(mean.tolist()), tuple(variance.clamp_min(0).sqrt().tolist())


def _tensor(values: NDArray[np.int64]) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values))
