"""What `data(seed)` gave, as columns of tensors that batches are gathered from."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from paretoscope.own import Problem
from workers.data.pool import Rows, stacked
from workers.data.random_streams import Seeds, generator
from workers.own_code.datasets import Split, columns_of
from workers.own_code.errors import CodeError
from workers.own_code.randomness import seeded

log = logging.getLogger(__name__)

PartName = Literal["train", "validation", "test"]
PARTS: tuple[PartName, ...] = ("train", "validation", "test")
NEEDED = ("train", "test")
SHARED_SEED = 0  # with which `data` is called where all seeds share a draw: a member must not depend on its cohort


class Part:
    """One split: a draw for each distinct seed, or one that all members share."""

    def __init__(self, columns: Sequence[Split], places: Tensor, seeds: Seeds) -> None:
        self._columns, self._places, self._seeds = columns, places, seeds  # places [D, N]
        self.form = columns[0].form

    def __len__(self) -> int:
        return self._places.shape[1]

    def some(self, places: Tensor) -> Part:
        """These places of every draw."""
        return Part(self._columns, self._places[:, places], self._seeds)

    def drawn(self, at: Tensor) -> list[Tensor]:
        """Each column at places [S, B] of each distinct seed's own draw: [S, B, …]."""
        each = torch.arange(len(at), device=at.device)[:, None] if len(self._places) > 1 else 0
        return self._taken(self._places[each, at])

    def block(self, rows: slice) -> list[Tensor]:
        """The same rows of every member's draw: each column [K, B, …]."""
        taken = self._taken(self._places[:, rows])
        members = self._seeds.members
        return [self._seeds.spread(t) if len(t) > 1 else t.expand(members, *t.shape[1:]) for t in taken]

    def column(self, i: int) -> Rows | None:
        """A column as rows of a pool [P, features], floats or as they are; none where items are read one by one."""
        kept = [columns.tensors for columns in self._columns]
        pools = [tensors[i].reshape(len(tensors[i]), -1) for tensors in kept if tensors is not None]
        if len(pools) < len(kept):
            return None
        pools = pools * (len(self._places) // len(pools))
        return stacked([Rows(pool, places, brightest=1) for pool, places in zip(pools, self._places, strict=True)])

    @property
    def in_memory(self) -> bool:
        return all(columns.tensors is not None for columns in self._columns)

    @property
    def draws(self) -> int:
        return len(self._places)

    @property
    def shapes(self) -> list[tuple[torch.Size, torch.dtype]]:
        """Of one example of each column."""
        return [(column.shape[2:], column.dtype) for column in self.block(slice(1))]

    def _taken(self, places: Tensor) -> list[Tensor]:
        """Places [D, B] of the draws: each column [D, B, …]."""
        if len(self._columns) == 1:
            columns = self._columns[0]
            if columns.tensors is not None:
                rows = places.reshape(-1)
                return [t.index_select(0, rows).view(*places.shape, *t.shape[1:]) for t in columns.tensors]
            each = [columns.columns_at(row) for row in places]
        else:
            each = [columns.columns_at(row) for columns, row in zip(self._columns, places, strict=True)]
        return [torch.stack(column).to(self._seeds.device) for column in zip(*each, strict=True)]


class OwnSplit:
    """The splits of a cohort: what its members learn from, are chosen by and are measured on."""

    def __init__(self, train: Part, test: Part, validation: Part | None) -> None:
        self.train, self.test, self.validation = train, test, validation

    def held_out(self) -> list[tuple[PartName, Part]]:
        parts: list[tuple[PartName, Part]] = [("test", self.test)]
        return parts if self.validation is None else [*parts, ("validation", self.validation)]


def split_of(problem: Problem, seeds: Seeds, fraction: float, per_seed: bool) -> OwnSplit:
    """Calls `data` once for each distinct seed, or once for all. Draws that are equal are kept once."""
    whose = seeds.distinct if per_seed else [SHARED_SEED]
    draws: list[dict[PartName, Split]] = []
    for seed in whose:
        with seeded(seed):
            draw = _checked(problem.data(seed), seeds.device)
        draws.append({name: _known(columns, name, draws[:1]) for name, columns in draw.items()})
    first = draws[0]
    for seed, draw in zip(whose, draws, strict=True):
        for name, columns in first.items():
            if name not in draw or draw[name].length != columns.length:
                count = draw[name].length if name in draw else "none"
                raise CodeError(
                    f"data must give every seed as many examples of {name}: {columns.length} with seed {whose[0]}, "
                    f"{count} with seed {seed}"
                )
    parts = {name: _part([draw[name] for draw in draws], seeds) for name in first}
    validation = parts.get("validation")
    if validation is None and fraction > 0:
        parts["train"], validation = _held_out([draw["train"] for draw in draws], whose, fraction, seeds)
    return OwnSplit(parts["train"], parts["test"], validation)


def _checked(given: Any, device: torch.device) -> dict[PartName, Split]:
    if not isinstance(given, Mapping):
        raise CodeError(f"data must give a dict with 'train' and 'test', got {type(given).__name__}")
    unknown = [name for name in given if name not in PARTS]
    if unknown or any(name not in given for name in NEEDED):
        named = repr(unknown[0]) if unknown else ", ".join(map(repr, given)) or "nothing"
        raise CodeError(f"data gave {named}; it needs 'train' and 'test', and may have 'validation'")
    draw: dict[PartName, Split] = {}
    for name in PARTS:
        if name in given:
            draw[name] = columns_of(given[name], name, device)
    return draw


def _known(columns: Split, name: PartName, before: Sequence[Mapping[PartName, Split]]) -> Split:
    """The first draw's own, where this one is equal to it."""
    for draw in before:
        first = draw.get(name)
        if first is None or first.tensors is None or columns.tensors is None:
            continue
        if len(first.tensors) == len(columns.tensors) and all(map(torch.equal, first.tensors, columns.tensors)):
            return first
    return columns


def _part(columns: Sequence[Split], seeds: Seeds) -> Part:
    """Every row of each draw; one draw where all are the same."""
    if all(each is columns[0] for each in columns):
        columns = columns[:1]
    rows = torch.arange(columns[0].length, device=seeds.device)
    return Part(columns, rows.expand(len(columns), -1), seeds)


def _held_out(columns: Sequence[Split], whose: Sequence[int], fraction: float, seeds: Seeds) -> tuple[Part, Part]:
    """A share of each draw's training examples for validation, at least one on either side, both in their old order."""
    count = columns[0].length
    if count < 2:
        raise CodeError(f"data gave {count} training example: none can be held out for validation")
    out = min(max(round(fraction * count), 1), count - 1)
    train, validation = [], []
    for seed in whose:
        order = torch.randperm(count, generator=generator(seed, "validation"))
        validation.append(order[:out].sort().values)
        train.append(order[out:].sort().values)
    if all(each is columns[0] for each in columns):
        columns = columns[:1]

    def part(rows: list[Tensor]) -> Part:
        return Part(columns, torch.stack(rows).to(seeds.device), seeds)

    return part(train), part(validation)
