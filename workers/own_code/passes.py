"""Passes over the splits of a user's problem, batch by batch: in a random order to train, in their own to measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import torch

from workers.data.random_streams import Seeds
from workers.own_code.data import OwnSplit, Part
from workers.own_code.forms import put_together
from workers.own_code.randomness import Noise, Request
from workers.own_code.running_members import Batch

ROWS = 1000  # examples that are measured together, the same for every cohort
TRAINING = "training"
Reading = Callable[[], AbstractContextManager[None]]  # what stands around reading examples, which may be user code


class Passes:
    """Batches of a cohort. What each kind of pass asks of random numbers is remembered from one to the next."""

    def __init__(self, split: OwnSplit, seeds: Seeds, batch_size: int, reading: Reading) -> None:
        self._split, self._seeds, self._size, self._reading = split, seeds, batch_size, reading
        self._draws = seeds.draw_of_member(len(seeds.distinct))  # [K]
        self._asked: dict[str, list[Request]] = {}
        self.is_random = True  # whether the losses of the training ask for random numbers, as far as is known

    def settle(self) -> None:
        """After the first batch: if it asked for no random numbers, nobody listens for them any more."""
        self.is_random = bool(self._asked.get(TRAINING))

    def epoch(self, epoch: int) -> Iterator[Batch]:
        """One pass over the training split, each seed in its own order."""
        seeds, train = self._seeds, self._split.train
        count = len(train)
        order = seeds.draw(f"order/{epoch}", lambda g: torch.randperm(count, generator=g))  # [S, N]
        noise = Noise(seeds, f"noise/{epoch}", count, self._asked.setdefault(TRAINING, []))
        for step, start in enumerate(range(0, count, self._size)):
            places = slice(start, min(start + self._size, count))
            with self._reading():
                columns = [seeds.spread(column) for column in train.drawn(order[:, places])]
            yield Batch(columns, train.form, noise, self._draws, step, places, self.is_random)

    def measured(self, what: str, name: str, part: Part) -> Iterator[Batch]:
        """A split in order; `what` is measured on it."""
        noise = Noise(self._seeds, f"noise/{name}", len(part), self._asked.setdefault(what, []))
        for step, start in enumerate(range(0, len(part), ROWS)):
            places = slice(start, min(start + ROWS, len(part)))
            with self._reading():
                columns = part.block(places)
            yield Batch(columns, part.form, noise, self._draws, step, places)

    def first_rows(self, draw: int) -> Any:
        """Some training examples of one of the distinct seeds, as the user's functions take them."""
        train = self._split.train
        rows = torch.arange(min(self._size, len(train)), device=self._seeds.device)
        columns = [
            column[draw if len(column) > 1 else 0]
            for column in train.drawn(rows[None].expand(len(self._seeds.distinct), -1))
        ]
        return put_together(train.form, columns)
