"""Random numbers inside a user's code that depend on the member's seed and the step, never on its cohort.

What is asked of torch is answered from streams: the j-th request of a step has its own. Noise of as many rows as the
batch is drawn for all examples of the epoch at once and read where the batch is, as the built-in problems do it.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from workers.data.random_streams import Seeds, generator

# Numbers per seed that are drawn at once for an epoch; more are drawn step by step. Masks are many, codes are few.
DRAWN = {"normal": 2**20, "uniform": 2**18}


class Request(NamedTuple):
    """What a function asked for: normal or uniform numbers, of this shape for every row of the batch or as a whole."""

    kind: str
    by_row: bool
    shape: tuple[int, ...]


class Unprepared(RuntimeError):
    """Numbers cannot be drawn while members are stacked; only what was asked of torch in a batch before is there."""


class Noise:
    """The random numbers of a pass over so many examples, for every distinct seed.

    `asked` is what a step is known to ask for, in order: numbers are drawn ahead by it, and runs of single members
    write it.
    """

    def __init__(self, seeds: Seeds, stream: str, count: int, asked: list[Request]) -> None:
        self._seeds, self._stream, self._count, self.asked = seeds, stream, count, asked
        self._of_pass: dict[tuple[int, Request], Tensor] = {}  # [S, N, …]
        self._of_step: dict[tuple[int, Request], Tensor] = {}  # [S, …]
        self._step, self._rows, self._place = 0, 0, 0
        self._places = slice(0)
        self._ready = False

    def move(self, step: int, places: slice) -> None:
        """To the batch of the examples at these places of the pass."""
        if step != self._step:
            self._of_step.clear()
        self._step, self._places, self._rows = step, places, len(range(self._count)[places])

    def begin(self, draw: int | None = None) -> None:
        """A run of the function for one of the seeds, which may ask for anything; or for all, by what was asked."""
        self._place, self._ready = 0, draw is None
        if draw is None:
            for j, request in enumerate(self.asked):
                self._drawn(j, request)
            return
        # The process's generators stand at this seed's place in the step, for functions that are not answered.
        start = generator(self._seeds.distinct[draw], f"{self._stream}/rest/{self._step}").initial_seed()
        torch.default_generator.manual_seed(start)
        if self._seeds.device.type == "cuda":
            torch.cuda.manual_seed(start)
        _seed_others(start)

    def next(self, kind: str, shape: tuple[int, ...]) -> Tensor:
        """What the next request gets: [S, *shape]."""
        j, self._place = self._place, self._place + 1
        by_row = shape[:1] == (self._rows,) and self._count * math.prod(shape[1:]) <= DRAWN[kind]
        request = Request(kind, by_row, shape[1:] if by_row else shape)
        if self._ready and request != (self.asked[j] if j < len(self.asked) else None):
            raise Unprepared(f"random numbers of shape {list(shape)} were not asked for before")
        if not self._ready:
            self.asked[j : j + 1] = [request]
        drawn = self._drawn(j, request)
        return drawn[:, self._places] if by_row else drawn

    def _drawn(self, j: int, request: Request) -> Tensor:
        known = self._of_pass if request.by_row else self._of_step
        if (j, request) not in known:
            stream = f"{self._stream}/{j}" if j else self._stream
            shape = (self._count, *request.shape) if request.by_row else request.shape
            make: Callable[..., Tensor] = torch.randn if request.kind == "normal" else torch.rand
            name = stream if request.by_row else f"{self._stream}/{j}/{self._step}"
            known[j, request] = self._seeds.draw(name, lambda g: make(shape, generator=g))
        return known[j, request]


@contextmanager
def seeded(seed: int, stream: str = "") -> Iterator[None]:
    """The process's random numbers stand at this seed within, at its stream if one is named, and return after it."""
    with undisturbed():
        start = generator(seed, stream).initial_seed() % 2**63 if stream else seed
        torch.manual_seed(start)
        _seed_others(start)
        yield


@contextmanager
def undisturbed() -> Iterator[None]:
    """The process's random numbers, those of torch, numpy and Python, stand afterwards where they stood."""
    numpy = sys.modules.get("numpy")
    before, before_numpy = random.getstate(), numpy.random.get_state() if numpy else None
    with torch.random.fork_rng(devices=range(torch.cuda.device_count()) if torch.cuda.is_available() else ()):
        try:
            yield
        finally:
            random.setstate(before)
            if numpy:
                numpy.random.set_state(before_numpy)


class OthersNumbers:
    """Whether numpy's or Python's random numbers were drawn since: a call for all members has but one of them.

    From a known seed, so that the next number tells: reading whole states would take longer than some steps.
    """

    def __init__(self) -> None:
        self._numpy = sys.modules.get("numpy")
        _seed_others(0)

    def check(self) -> None:
        drawn = random.random() != _FIRST_OF_PYTHON
        if self._numpy:
            drawn = drawn or self._numpy.random.random_sample() != _first_of_numpy()
        if drawn:
            raise Unprepared("random numbers of numpy or Python were drawn, which stacked members would share")


_FIRST_OF_PYTHON = random.Random(0).random()


@cache
def _first_of_numpy() -> float:
    return float(sys.modules["numpy"].random.RandomState(0).random_sample())


def _seed_others(start: int) -> None:
    random.seed(start)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(start % 2**32)
