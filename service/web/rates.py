"""How often something may happen: a bucket of permits for each who asks, which fills with time."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from math import ceil

KEPT = 10_000  # of those who asked last; who has been quiet for a minute has a full bucket anyway
MINUTE = 60.0


class Rate:
    """So many per minute, all of them at once if need be."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = float(per_minute), clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # permits, and when they were counted
        self._lock = threading.Lock()

    def take_permit(self, who: str) -> int:
        """Takes a permit: 0, or in how many seconds there will be one."""
        with self._lock:
            left = self._now(who)
            taken = left - 1 if left >= 1 else left
            self._left[who] = (taken, self._clock())
            self._left.move_to_end(who)
            while len(self._left) > KEPT:
                self._left.popitem(last=False)
            return 0 if left >= 1 else self._wait(left)

    def wait(self, who: str) -> int:
        """In how many seconds there will be a permit; 0 when there is one. Takes none."""
        with self._lock:
            left = self._now(who)
            return 0 if left >= 1 else self._wait(left)

    def _now(self, who: str) -> float:
        left, at = self._left.get(who, (self._most, self._clock()))
        return min(self._most, left + (self._clock() - at) * self._most / MINUTE)

    def _wait(self, left: float) -> int:
        return max(1, ceil((1 - left) * MINUTE / self._most))
