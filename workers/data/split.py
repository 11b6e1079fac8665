"""The data of a cohort: what its members learn from, are chosen by and are measured on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from service.contract.metrics import VALIDATION
from workers.data import DataSet
from workers.data.augmenting import Augmentation
from workers.data.pool import Rows, stacked
from workers.data.random_streams import Seeds, generator


class Part:
    """One split: a draw D for each distinct seed, or one that all members share."""

    def __init__(self, inputs: Rows, labels: Tensor, seeds: Seeds) -> None:
        self.inputs = inputs  # places [D, N]
        self.labels = labels  # [D, N], or [D, N, d] where labels are vectors
        self.seeds = seeds

    def __len__(self) -> int:
        return len(self.inputs)

    def drawn(self, at: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs [S, B, features] and labels [S, B, …] at places [S, B] of each distinct seed's own draw."""
        each = torch.arange(len(at), device=at.device)[:, None] if len(self.labels) > 1 else 0
        return self.inputs.taken(self.inputs.places[each, at]), self.labels[each, at]

    def of_members(self, at: Tensor) -> Tensor:
        """Inputs [K, B, features] at places [K, B] of each member's own draw."""
        return self.inputs.taken(self.inputs.places[self.seeds.draw_of_member(len(self.labels))[:, None], at])

    def block(self, rows: slice) -> tuple[Tensor, Tensor]:
        """The same rows of every member's draw: inputs [K, B, features] and labels [K, B, …]."""
        return self.spread(self.inputs[rows]), self.spread(self.labels[:, rows])

    def some(self, places: Tensor | slice) -> Part:
        """These places of every draw."""
        return Part(self.inputs.some(places), self.labels[:, places], self.seeds)

    def spread(self, draws: Tensor) -> Tensor:
        """What each draw has [D, …], for each member [K, …]."""
        if len(draws) > 1:
            return self.seeds.spread(draws)
        return draws.expand(self.seeds.members, *draws.shape[1:])


class Split:
    """The splits of a cohort, who learns from them, and in which portions."""

    def __init__(self, draws: Sequence[DataSet], seeds: Seeds, batch_size: int) -> None:
        if len(draws) not in (1, len(seeds.distinct)):
            raise ValueError(f"{len(seeds.distinct)} seeds need one draw, or one each, got {len(draws)}")
        self.data = draws[0]  # for what all draws have in common: classes, shapes, the names of tasks
        self.seeds, self.batch_size = seeds, batch_size
        self.augmentation: Augmentation | None = None
        self._draws = draws
        self._pools: dict[int, tuple[Tensor, Tensor]] = {}
        self.train = self._part(lambda d: d.x_train, lambda d: d.y_train)
        self.test = self._part(lambda d: d.x_test, lambda d: d.y_test)
        self.validation: Part | None = None
        if self.data.x_validation is not None:
            self.validation = self._part(lambda d: d.x_validation, lambda d: d.y_validation)

    def held_out(self) -> list[tuple[Part, str, Callable[[str], str]]]:
        """What is measured on: each split, the name of its random streams, and what its metrics are called."""
        parts: list[tuple[Part, str, Callable[[str], str]]] = [(self.test, "test", str)]
        if self.validation is not None:
            parts.append((self.validation, "validation", VALIDATION.of))
        return parts

    def augmented(self, x: Tensor, stream: str) -> Tensor:
        """Training inputs [K, B, features] as they are learned from in the step of this name."""
        return x if self.augmentation is None else self.augmentation(x, self.data.shape, stream)

    def stack(self, one: Callable[[DataSet], Tensor | None]) -> Tensor | None:
        """What every draw has of something: [D, …]; none where it has none."""
        each = [one(draw) for draw in self._draws]
        known = [tensor for tensor in each if tensor is not None]
        return torch.stack(known).to(self.seeds.device) if known else None

    def some_training(self, count: int) -> Tensor:
        """Places of so many training examples, or of all: the same ones for every cohort."""
        shuffled = torch.randperm(len(self.train), generator=generator(0, "train-subset"))
        return shuffled[:count].to(self.seeds.device)

    def _part(self, inputs: Callable[[DataSet], Rows | None], labels: Callable[[DataSet], Tensor | None]) -> Part:
        rows = stacked([each for each in map(inputs, self._draws) if each is not None])
        y = self.stack(labels)
        if y is None:
            raise ValueError("a split with inputs needs labels")
        return Part(rows.moved(self._on_device(rows.pool)), y, self.seeds)

    def _on_device(self, pool: Tensor) -> Tensor:
        """Splits of one pool share it; the original is kept, so that no other tensor gets its id."""
        if id(pool) not in self._pools:
            self._pools[id(pool)] = (pool, pool.to(self.seeds.device))
        return self._pools[id(pool)][1]
