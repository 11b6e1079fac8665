"""Which of the processes that serve one PostgreSQL hands studies to Ray: the one that holds a lock of the server."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

import sqlalchemy as sql

from service.contract.wire.errors import Unavailable
from service.store.notices import connected

if TYPE_CHECKING:
    from psycopg import Connection

log = logging.getLogger("paretoscope.store")

LEADING = 7_203_115  # the advisory lock, a number of our own


class Leadership:
    """Held as long as its connection lives: the server gives it to another when this process is gone."""

    def __init__(self, engine: sql.Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._held = False

    def held(self) -> bool:
        """Asked of the server each time: who was cut off from it leads no more."""
        import psycopg

        with self._lock:
            try:
                if self._connection is None:
                    self._connection = connected(self._engine)
                if self._held:
                    self._connection.execute("SELECT 1")
                else:
                    answer = self._connection.execute(f"SELECT pg_try_advisory_lock({LEADING})").fetchone()
                    self._held = answer is not None and bool(answer[0])
                    if self._held:
                        log.info("this process hands studies to Ray")
                return self._held
            except psycopg.Error as error:
                self._leave()
                said = str(error).strip().splitlines()[0]
                raise Unavailable(f"the store does not answer: {said}") from error

    def close(self) -> None:
        with self._lock:
            self._leave()

    def _leave(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection, self._held = None, False
