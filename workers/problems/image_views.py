"""Views of images that tasks learn from, drawn per seed: as they are, labelled ones, turned, shifted."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from workers.data.split import Part, Split
from workers.problems.tasks.exemplar import shifted
from workers.problems.tasks.rotation import TURNS, turned
from workers.problems.tasks.task import Drawn, SplitName, View


class Views:
    """One epoch's order of images and the random numbers of its views."""

    def __init__(self, split: Split, labelled: Tensor | None, shift: int, original: bool) -> None:
        self.split, self._seeds, self._shift = split, split.seeds, shift
        self._original = original  # whether a shifted image comes with the image itself, or with itself shifted anew
        self._size, self._shape = split.batch_size, split.data.shape
        # Places of the labelled images, as many in every draw: [K, few]
        self._labelled = None if labelled is None else split.train.spread(_places(labelled))
        self.steps = math.ceil(len(split.train) / self._size)

    def orders(self, epoch: int) -> dict[str, Tensor]:
        """Places of the epoch's images [K, steps·B]: all of them once, the labelled ones as often as it takes."""
        count = len(self.split.train)
        orders = {"plain": self._draw(f"order/{epoch}", lambda g: torch.randperm(count, generator=g))}
        if self._labelled is not None:
            few = self._labelled.shape[1]
            times = math.ceil(self.steps * min(self._size, few) / few)

            def passes(g: torch.Generator) -> Tensor:
                return torch.cat([torch.randperm(few, generator=g) for _ in range(times)])

            orders["labelled"] = self._labelled.gather(1, self._draw(f"labelled/{epoch}", passes))
        return orders

    def training(self, view: View, orders: dict[str, Tensor], epoch: int, step: int) -> Drawn:
        """What a task with this view sees in a step."""
        order = orders["labelled" if view == "labelled" else "plain"]
        size = self._size if self._labelled is None or view != "labelled" else min(self._size, self._labelled.shape[1])
        index = order[:, step * size : (step + 1) * size]
        x = self.split.train.of_members(index)
        seen = self.split.augmented(x, f"{view}/{epoch}/{step}")
        return self._seen(view, "train", index, seen, x, f"{epoch}/{step}")

    def measured(self, view: View, split: SplitName, rows: slice) -> Drawn:
        """A block of a split, the same for every epoch; each quarter turn of each image.

        The labelled view of the training split has its labelled images, which may be fewer than are asked for.
        """
        if split == "train" and view == "labelled" and self._labelled is not None:
            index = self._labelled[:, rows]
        else:
            everyone = torch.arange(rows.start, rows.stop, device=self._seeds.device)
            places = self.split.some_training(rows.stop)[rows] if split == "train" else everyone
            index = places.expand(self._seeds.members, -1)
        if view != "turned":
            x = self._part(split).of_members(index)
            return self._seen("plain" if view == "labelled" else view, split, index, x, x, f"{split}/{rows.start}")
        index, turns = index.repeat(1, TURNS), torch.arange(TURNS, device=index.device)
        each = turns.repeat_interleave(index.shape[1] // TURNS).expand_as(index)
        return Drawn(split, index, turned(self._part(split).of_members(index), each, self._shape), each)

    def _part(self, split: SplitName) -> Part:
        part = {"train": self.split.train, "validation": self.split.validation, "test": self.split.test}[split]
        if part is None:
            raise ValueError(f"this data has no {split} split: set data.validation_fraction")
        return part

    def _seen(self, view: View, split: SplitName, index: Tensor, x: Tensor, original: Tensor, stream: str) -> Drawn:
        many, shape = index.shape[1], self._shape
        if view == "turned":
            turns = self._draw(f"turns/{stream}", lambda g: torch.randint(TURNS, (many,), generator=g))
            return Drawn(split, index, turned(x, turns, shape), turns)
        if view == "shifted":
            first = self._shifted(x, f"first/{stream}")
            return Drawn(split, index, first, original if self._original else self._shifted(x, f"second/{stream}"))
        return Drawn(split, index, x)

    def _shifted(self, x: Tensor, stream: str) -> Tensor:
        many, features, most = x.shape[1], x.shape[2], self._shift
        moves = self._draw(f"moves/{stream}", lambda g: torch.randint(-most, most + 1, (many, 2), generator=g))
        noise = self._draw(f"pixels/{stream}", lambda g: torch.randn(many, features, generator=g))
        return shifted(x, moves, noise, self._shape)

    def _draw(self, stream: str, one: Callable[[torch.Generator], Tensor]) -> Tensor:
        return self._seeds.spread(self._seeds.draw(stream, one))


def _places(labelled: Tensor) -> Tensor:
    """Where it is true in each row, as often in every row: [D, N] → [D, few]."""
    return labelled.nonzero()[:, 1].view(len(labelled), -1)
