"""How slowly a body may arrive: a pause and the whole are bounded, or a byte now and then would hold a connection
for days."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


class Pace:
    """Of one body. What we take to write is not the client's fault, so only waiting counts."""

    def __init__(self, longest: float, rate: int) -> None:
        self._longest, self._rate = longest, rate  # seconds of a pause; bytes a second, after as many seconds
        self._waited = 0.0
        self.size = 0  # of what has come

    @property
    def left(self) -> float:
        """Seconds until it is too slow in all."""
        return self._longest + self.size / self._rate - self._waited

    @property
    def is_too_slow(self) -> bool:
        """Whether the whole is what ends the next wait, rather than a pause."""
        return self.left < self._longest

    async def next(self, piece: Awaitable[T]) -> T:
        """TimeoutError where it does not come in time."""
        begun = time.monotonic()
        came = await asyncio.wait_for(piece, min(self._longest, self.left))
        self._waited += time.monotonic() - begun
        return came
