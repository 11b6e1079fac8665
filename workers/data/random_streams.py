"""Random numbers that depend only on a seed and a stream's name, never on the cohort a member trains in."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import torch
from torch import Tensor


def generator(seed: int, stream: str) -> torch.Generator:
    """A CPU generator for one seed and one purpose, e.g. `noise/3` for the latent noise of epoch 3."""
    digest = hashlib.sha256(f"{seed}/{stream}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "big") >> 1)


KEPT = 16 * 2**20  # numbers that a cohort keeps of what it draws in every epoch: 64 MB


class Seeds:
    """The seeds of a cohort's members. Equal seeds share every draw (common random numbers)."""

    def __init__(self, seeds: Sequence[int], device: torch.device) -> None:
        self.distinct = list(dict.fromkeys(seeds))
        self.members = len(seeds)
        self.device = device
        self._of_member = torch.tensor([self.distinct.index(s) for s in seeds], device=device)  # [K]
        self._kept: dict[tuple[str, tuple[int, ...]], Tensor] = {}
        self._room = KEPT

    def draw(self, stream: str, one: Callable[[torch.Generator], Tensor]) -> Tensor:
        """`one` drawn once per distinct seed: [S, …]."""
        draws = [one(generator(seed, stream)) for seed in self.distinct]
        return torch.stack(draws).to(self.device)

    def noise(self, stream: str, *shape: int) -> Tensor:
        """Standard normal [S, …] of a stream that is read in every epoch: kept, as long as there is room."""
        known = self._kept.get((stream, shape))
        if known is not None:
            return known
        drawn = self.draw(stream, lambda g: torch.randn(shape, generator=g))
        if drawn.numel() <= self._room:
            self._kept[stream, shape] = drawn
            self._room -= drawn.numel()
        return drawn

    def spread(self, draws: Tensor) -> Tensor:
        """[S, …] → [K, …], without a copy where none is needed."""
        if len(self.distinct) == self.members:
            return draws
        if len(self.distinct) == 1:
            return draws.expand(self.members, *draws.shape[1:])
        return draws.index_select(0, self._of_member)

    def draw_of_member(self, draws: int) -> Tensor:
        """Which of so many draws of the data is each member's [K]: one for all, or one for each distinct seed."""
        return self._of_member if draws > 1 else torch.zeros_like(self._of_member)
