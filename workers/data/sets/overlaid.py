"""Two images in one: the standard benchmark of two objectives (MultiMNIST and its relatives)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from service.contract.methods.data import Digits, FashionMnist, Images, Mnist, Overlaid
from workers.data import DataSet, Draw, Targets, module_of, selection

if TYPE_CHECKING:
    from torch import Tensor

    from workers.data.pool import Rows

SEED = 5
MADE = "made on the fly from other images"
KINDS: dict[str, type[Images]] = {"digits": Digits, "mnist": Mnist, "fashion-mnist": FashionMnist}
SHIFT = 2 / 7  # of an image's side: 28 pixels go on a canvas of 36


def load(spec: Overlaid, folder: Path) -> Draw:
    """Pairs of the images that `of` names, each split from its own images; noise makes images' labels wrong."""
    import torch  # not above: `paretoscope data` lists without it

    from workers.data.assembly import moments
    from workers.data.pool import Rows

    shared = {name: getattr(spec, name) for name in Images.model_fields if name not in ("name", "labels")}
    of_images: Draw = module_of(spec.of).load(KINDS[spec.of](**shared), folder)
    first = of_images(None)
    test = _pairs(first.x_test, first.y_test, first.shape, spec.test_pairs or len(first.x_test), "test", None)

    def draw(seed: int | None) -> DataSet:
        base = of_images(seed)
        held = 0 if base.x_validation is None else len(base.x_validation)
        count = spec.pairs or len(base.x_train) + held
        out = min(max(round(spec.validation_fraction * count), 1), count - 1) if held else 0
        train = _pairs(base.x_train, base.y_train, base.shape, count - out, "train", seed)
        validation = None
        if base.x_validation is not None and base.y_validation is not None:
            validation = _pairs(base.x_validation, base.y_validation, base.shape, out, "validation", seed)
        tasks = {
            side: Targets(train[1][i], test[1][i], base.classes, validation[1][i] if validation else None)
            for i, side in enumerate(spec.columns)
        }
        left = tasks["left"]
        few = None if spec.labels is None else selection.few(left.train.numpy(), spec.labels, seed)
        channels, height, width = base.shape
        mean, std = moments(Rows.all_of(train[0]), channels)
        return replace(
            base,
            x_train=Rows.all_of(train[0]),
            y_train=left.train,
            x_test=Rows.all_of(test[0]),
            y_test=left.test,
            shape=(channels, height + _shift(height), width + _shift(width)),
            mean=mean,
            std=std,
            tasks=tasks,
            labelled=None if few is None else torch.from_numpy(few),
            x_validation=Rows.all_of(validation[0]) if validation else None,
            y_validation=left.validation,
        )

    return draw


def _pairs(
    x: Rows, y: Tensor, shape: tuple[int, int, int], count: int, split: str, seed: int | None
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """`count` pairs drawn with replacement: canvases [count, features] and the labels of both sides."""
    import torch

    from workers.data.random_streams import generator

    stream = f"overlaid/{split}" if seed is None else f"overlaid/{split}/{seed}"
    first, second = torch.randint(len(x), (2, count), generator=generator(SEED, stream))
    channels, height, width = shape
    down, right = _shift(height), _shift(width)
    images = x[:].view(-1, channels, height, width)
    canvas = torch.zeros(count, channels, height + down, width + right)
    canvas[:, :, :height, :width] = images[first]
    below = canvas[:, :, down:, right:]
    torch.maximum(below, images[second], out=below)
    return canvas.flatten(1), (y[first], y[second])


def _shift(side: int) -> int:
    return max(1, round(side * SHIFT))
