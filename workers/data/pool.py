"""Inputs as rows of a pool, which splits and draws of a data set share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Rows:
    """Places in a pool of inputs, bytes or floats. What is taken is floats, bytes as shares of the brightest."""

    pool: Tensor  # [P, features]
    places: Tensor  # [N], or [draws, N]
    brightest: int = 255

    @classmethod
    def all_of(cls, inputs: Tensor, brightest: int = 255) -> Rows:
        """Every row of these inputs [N, features], in order."""
        return cls(inputs, torch.arange(len(inputs), device=inputs.device), brightest)

    def __len__(self) -> int:
        return self.places.shape[-1]

    def __getitem__(self, at: Tensor | slice) -> Tensor:
        return self.taken(self.places[..., at])

    def taken(self, places: Tensor) -> Tensor:
        """Inputs [..., features] at places [...] of the pool."""
        inputs = self.pool[places]
        return inputs if inputs.is_floating_point() else inputs.float().div_(self.brightest)

    @property
    def features(self) -> int:
        return self.pool.shape[1]

    def some(self, places: Tensor | slice) -> Rows:
        """Those at these places of the rows."""
        return replace(self, places=self.places[..., places])

    def moved(self, pool: Tensor) -> Rows:
        """The same rows of the same pool on another device."""
        return replace(self, pool=pool, places=self.places.to(pool.device))


def stacked(draws: Sequence[Rows]) -> Rows:
    """One place per draw and row, [draws, N]; a pool that all share is not copied."""
    first = draws[0]
    if all(rows.pool is first.pool for rows in draws):
        return replace(first, places=torch.stack([rows.places for rows in draws]))
    starts = torch.tensor([0, *(len(rows.pool) for rows in draws)]).cumsum(0)
    places = torch.stack([rows.places + int(start) for rows, start in zip(draws, starts, strict=False)])
    return replace(first, pool=torch.cat([rows.pool for rows in draws]), places=places)
