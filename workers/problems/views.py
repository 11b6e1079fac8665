"""Views of images that tasks learn from, drawn per seed: as they are, labelled ones, turned, shifted twice."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from workers.data import DataSet
from workers.data.random_streams import Seeds
from workers.problems.tasks.exemplar import shifted
from workers.problems.tasks.rotation import TURNS, turned
from workers.problems.tasks.task import Drawn, SplitName, View


class Views:
    """One epoch's order of images and the random numbers of its views."""

    def __init__(self, data: DataSet, seeds: Seeds, batch_size: int, shift: int) -> None:
        self._data, self._seeds, self._size, self._shift = data, seeds, batch_size, shift
        self._labelled = None if data.labelled is None else data.labelled.nonzero()[:, 0]
        self.steps = math.ceil(len(data.x_train) / batch_size)

    def orders(self, epoch: int) -> dict[str, Tensor]:
        """Places of the epoch's images [K, steps·B]: all of them once, the labelled ones as often as it takes."""
        count = len(self._data.x_train)
        orders = {"plain": self._draw(f"order/{epoch}", lambda g: torch.randperm(count, generator=g))}
        if self._labelled is not None:
            few = len(self._labelled)
            times = math.ceil(self.steps * min(self._size, few) / few)

            def passes(g: torch.Generator) -> Tensor:
                return torch.cat([torch.randperm(few, generator=g) for _ in range(times)])

            orders["labelled"] = self._labelled[self._draw(f"labelled/{epoch}", passes)]
        return orders

    def training(self, view: View, orders: dict[str, Tensor], epoch: int, step: int) -> Drawn:
        """What a task with this view sees in a step."""
        order = orders["labelled" if view == "labelled" else "plain"]
        size = self._size if self._labelled is None or view != "labelled" else min(self._size, len(self._labelled))
        index = order[:, step * size : (step + 1) * size]
        return self._seen(view, "train", index, f"{epoch}/{step}")

    def measured(self, view: View, split: SplitName, start: int, rows: int) -> Drawn:
        """A block of a split, the same for every member and epoch; each quarter turn of each image."""
        x = self.inputs(split)
        index = torch.arange(start, min(start + rows, len(x)), device=x.device).expand(self._seeds.members, -1)
        if view != "turned":
            return self._seen("plain" if view == "labelled" else view, split, index, f"{split}/{start}")
        index, turns = index.repeat(1, TURNS), torch.arange(TURNS, device=x.device)
        each = turns.repeat_interleave(index.shape[1] // TURNS).expand_as(index)
        return Drawn(split, index, turned(x[index], each, self._data.shape), each)

    def inputs(self, split: SplitName) -> Tensor:
        images = {"train": self._data.x_train, "validation": self._data.x_validation, "test": self._data.x_test}[split]
        if images is None:
            raise ValueError(f"this data has no {split} split: set data.validation_fraction")
        return images

    def _seen(self, view: View, split: SplitName, index: Tensor, stream: str) -> Drawn:
        x, shape = self.inputs(split)[index], self._data.shape
        many = index.shape[1]
        if view == "turned":
            turns = self._draw(f"turns/{stream}", lambda g: torch.randint(TURNS, (many,), generator=g))
            return Drawn(split, index, turned(x, turns, shape), turns)
        if view == "shifted":
            first, second = (self._shifted(x, f"{part}/{stream}") for part in ("first", "second"))
            return Drawn(split, index, first, second)
        return Drawn(split, index, x)

    def _shifted(self, x: Tensor, stream: str) -> Tensor:
        many, features, most = x.shape[1], x.shape[2], self._shift
        moves = self._draw(f"moves/{stream}", lambda g: torch.randint(-most, most + 1, (many, 2), generator=g))
        noise = self._draw(f"pixels/{stream}", lambda g: torch.randn(many, features, generator=g))
        return shifted(x, moves, noise, self._data.shape)

    def _draw(self, stream: str, one: Callable[[torch.Generator], Tensor]) -> Tensor:
        return self._seeds.spread(self._seeds.draw(stream, one))
