"""A user's method of one tensor, for all members at once: what the measures of codes and attacks are given."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from workers.data.random_streams import Seeds
from workers.own_code.errors import users_own
from workers.own_code.functions import Function
from workers.own_code.randomness import Noise, Request
from workers.own_code.running_members import Batch, OneByOne, Way

log = logging.getLogger(__name__)


class Hooked:
    """[K, B, …] → [K, B, …], stacked where that gives what members give alone; differentiable in what it is given."""

    def __init__(
        self, method: Callable[..., Any], function: Function, way: Way, alone: OneByOne, seeds: Seeds, folder: Path
    ) -> None:
        self._method, self._function, self._folder = method, function, folder
        self._way, self._alone, self._seeds = way, alone, seeds
        self._name = method.__name__
        self._draws = seeds.draw_of_member(len(seeds.distinct))
        self._asked: list[Request] = []
        self._tried, self._calls = False, 0

    @property
    def is_random(self) -> bool:
        return bool(self._asked)

    def begin(self) -> None:
        """Random numbers of an evaluation depend on the call within it, so that it can be done again."""
        self._calls = 0

    def __call__(self, given: Tensor) -> list[Tensor]:
        with users_own(self._folder, self._method):
            if not self._tried:
                self._tried = True
                self._choose(given)
            self._calls += 1
            try:
                return self._run(self._way, given)
            except RuntimeError as error:
                if self._way is self._alone:
                    raise
                self._give_up(str(error))
                return self._run(self._alone, given)

    def _run(self, way: Way, given: Tensor, listen: bool = False) -> list[Tensor]:
        rows = given.shape[1]
        noise = Noise(self._seeds, f"{self._name}/{self._calls}", rows, self._asked)
        answered = listen or self.is_random
        return way.run(self._function, Batch([given], None, noise, self._draws, 0, slice(0, rows), answered))

    @torch.no_grad()
    def _choose(self, given: Tensor) -> None:
        """Alone first, so that a fault is told as the user's own, and it is known what random numbers are asked for."""
        alone = self._run(self._alone, given, listen=True)
        if self._way is self._alone:
            return
        try:
            together = self._run(self._way, given)
        except Exception as error:  # noqa: BLE001 - vmap raises anything, and alone the same code just ran
            self._give_up(str(error))
            return
        if not all(torch.allclose(a, b, 1e-4, 1e-5, equal_nan=True) for a, b in zip(together, alone, strict=True)):
            self._give_up("stacked values differ")

    def _give_up(self, why: str) -> None:
        self._way = self._alone
        log.info("%s is called one by one: %s", self._name, why.strip().partition("\n")[0][:300])
