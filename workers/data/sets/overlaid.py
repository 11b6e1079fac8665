"""Two images in one: the standard benchmark of two objectives (MultiMNIST and its relatives)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from service.contract.methods.data import Digits, FashionMnist, Images, Mnist, Overlaid
from workers.data import DataSet, Targets, module_of, selection

if TYPE_CHECKING:
    from torch import Tensor

SEED = 5
MADE = "made on the fly from other images"
KINDS: dict[str, type[Images]] = {"digits": Digits, "mnist": Mnist, "fashion-mnist": FashionMnist}
SHIFT = 2 / 7  # of an image's side: 28 pixels go on a canvas of 36


def load(spec: Overlaid, folder: Path) -> DataSet:
    """Pairs of the images that `of` names, each split from its own images; noise makes images' labels wrong."""
    import torch  # not above: `paretoscope data` lists without it

    shared = {name: getattr(spec, name) for name in Images.model_fields if name not in ("name", "labels")}
    kind = KINDS[spec.of]
    base: DataSet = module_of(spec.of).load(kind(**shared), folder)
    held = 0 if base.x_validation is None else len(base.x_validation)
    count = spec.pairs or len(base.x_train) + held
    out = min(max(round(spec.validation_fraction * count), 1), count - 1) if held else 0
    train = _pairs(base.x_train, base.y_train, base.shape, count - out, "train")
    test = _pairs(base.x_test, base.y_test, base.shape, spec.test_pairs or len(base.x_test), "test")
    validation = None
    if base.x_validation is not None and base.y_validation is not None:
        validation = _pairs(base.x_validation, base.y_validation, base.shape, out, "validation")
    tasks = {
        side: Targets(train[1][i], test[1][i], base.classes, validation[1][i] if validation else None)
        for i, side in enumerate(("left", "right"))
    }
    left = tasks["left"]
    labelled = None if spec.labels is None else torch.from_numpy(selection.few(left.train.numpy(), spec.labels))
    channels, height, width = base.shape
    by_channel = train[0].view(len(train[0]), channels, -1)
    return replace(
        base,
        x_train=train[0],
        y_train=left.train,
        x_test=test[0],
        y_test=left.test,
        shape=(channels, height + _shift(height), width + _shift(width)),
        mean=tuple(by_channel.mean((0, 2)).tolist()),
        std=tuple(by_channel.std((0, 2)).tolist()),
        tasks=tasks,
        labelled=labelled,
        x_validation=validation[0] if validation else None,
        y_validation=left.validation,
    )


def _pairs(
    x: Tensor, y: Tensor, shape: tuple[int, int, int], count: int, split: str
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """`count` pairs drawn with replacement: canvases [count, features] and the labels of both sides."""
    import torch

    from workers.data.random_streams import generator

    first, second = torch.randint(len(x), (2, count), generator=generator(SEED, f"overlaid/{split}"))
    channels, height, width = shape
    down, right = _shift(height), _shift(width)
    images = x.view(-1, channels, height, width)
    canvas = torch.zeros(count, channels, height + down, width + right)
    canvas[:, :, :height, :width] = images[first]
    below = canvas[:, :, down:, right:]
    torch.maximum(below, images[second], out=below)
    return canvas.flatten(1), (y[first], y[second])


def _shift(side: int) -> int:
    return max(1, round(side * SHIFT))
