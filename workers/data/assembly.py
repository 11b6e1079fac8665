"""From published splits to a DataSet: choose examples, hold some out, make labels wrong, turn inputs into floats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from service.contract.study.examples import Labelled
from workers.data import DataSet, Targets, selection
from workers.data.preparing.recipes import Splits

Inputs = NDArray[Any]  # [n, C, H, W] as published
Encode = Callable[[Inputs], Tensor]  # → [n, features]


@dataclass(frozen=True)
class Facts:
    """What is known of a data set beside its examples."""

    classes: int
    mean: tuple[float, ...] = ()  # none: measured on what is trained on
    std: tuple[float, ...] = ()
    tasks: Sequence[str] = ()  # one per column of labels
    coarse: tuple[int, ...] = ()
    vocabulary: int = 0


def assemble(
    splits: Splits,
    spec: Labelled,
    facts: Facts,
    fit: Callable[[Inputs], Encode],
    test_count: int | None = None,
    chosen: selection.Portions | None = None,
) -> DataSet:
    """`fit` sees the inputs to train on and nothing else; what it returns encodes the inputs of every split."""
    columns = splits.train_labels.reshape(len(splits.train_labels), -1)  # [N, tasks]
    test_columns = splits.test_labels.reshape(len(splits.test_labels), -1)
    if chosen is None:
        chosen = selection.portions(columns[:, 0], test_columns[:, 0], spec, test_count)
    held = len(chosen.validation) > 0
    train = splits.train_images[chosen.train]  # only chosen inputs leave the mapped file
    encode = fit(train)

    def targets(t: int) -> Targets:
        noisy = selection.with_noise(columns[chosen.train, t], spec.label_noise, facts.classes, t)
        validation = _tensor(columns[chosen.validation, t]) if held else None
        return Targets(_tensor(noisy), _tensor(test_columns[chosen.test, t]), facts.classes, validation)

    main = targets(0)
    x_train = encode(train)
    channels, height, width = train.shape[1:]
    if x_train.shape[1] != channels * height * width:
        channels, height, width = 1, 1, x_train.shape[1]
    by_channel = x_train.view(len(x_train), channels, -1)
    return DataSet(
        x_train,
        main.train,
        encode(splits.test_images[chosen.test]),
        main.test,
        facts.classes,
        (channels, height, width),
        facts.mean or tuple(by_channel.mean((0, 2)).tolist()),
        facts.std or tuple(by_channel.std((0, 2)).tolist()),
        tasks={name: targets(t) for t, name in enumerate(facts.tasks)},
        labelled=None if chosen.labelled is None else torch.from_numpy(chosen.labelled),
        x_validation=encode(splits.train_images[chosen.validation]) if held else None,
        y_validation=main.validation,
        coarse=facts.coarse,
        vocabulary=facts.vocabulary,
    )


def pixels(brightest: int = 255) -> Callable[[Inputs], Encode]:
    """[n, C, H, W] bytes → [n, C·H·W] in [0, 1], whatever was trained on."""
    return lambda _: lambda images: torch.from_numpy(images).flatten(1).float().div_(brightest)


def _tensor(labels: NDArray[np.int64]) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(labels))
