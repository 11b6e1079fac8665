"""Whether Ray can be seen, and what running studies say when it cannot."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable

from service.contract.wire.events import REASON_LENGTH, Event, StudyInterrupted
from service.store.protocol import StudyRow

AWAY_SECONDS = 3.0  # after which it is told: a moment's silence interrupts nothing


class Sight:
    """Remembers since when Ray is away, and which studies were said to be interrupted since: each is told once."""

    def __init__(self, append: Callable[[str, Event], object]) -> None:
        self._append = append
        self._lost_at: float | None = None
        self._told: set[str] = set()

    def regained(self) -> None:
        self._lost_at = None
        self._told.clear()

    def lost(self, running: Iterable[StudyRow], why: str) -> None:
        now = time.monotonic()
        self._lost_at = now if self._lost_at is None else self._lost_at
        if now - self._lost_at < AWAY_SECONDS:
            return
        for row in running:
            if row.id not in self._told:
                self._told.add(row.id)
                uid = f"service:interrupted:{secrets.token_hex(4)}"
                self._append(row.id, StudyInterrupted(uid=uid, reason=why[:REASON_LENGTH]))
