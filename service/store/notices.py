"""News between the processes that serve one PostgreSQL: who has written to which study."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import sqlalchemy as sql

if TYPE_CHECKING:
    from psycopg import Connection

log = logging.getLogger("paretoscope.store")

CHANNEL = "paretoscope"
DELETED = "deleted"
LOOK_SECONDS = 0.25  # how long closing waits for the thread
PAUSE_SECONDS = 1.0
# A process whose machine vanished is noticed in half a minute, and what it held is free again.
KEEPALIVE = "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=4"

Heard = Callable[[str, str], None]  # the study, and its new state: empty where that has not changed


def connected(engine: sql.Engine) -> Connection:
    """A connection of its own, beside those of the pool; imported here, as SQLite has no use for it."""
    import psycopg

    address = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    return psycopg.connect(address, autocommit=True, connect_timeout=10, options=KEEPALIVE)


class Notices:
    """A thread that listens. What is missed while the server is away is seen at the next look of each reader."""

    def __init__(self, engine: sql.Engine, heard: Heard) -> None:
        self._engine, self._heard = engine, heard
        self._own = secrets.token_hex(4)  # what this process writes, it knows
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="notices", daemon=True)
        self._thread.start()

    def send(self, connection: sql.Connection, study_id: str, state: str = "") -> None:
        """Heard by the others when, and only if, the transaction is committed."""
        connection.execute(sql.select(sql.func.pg_notify(CHANNEL, f"{self._own}:{study_id}:{state}")))

    def close(self) -> None:
        self._ending.set()
        self._thread.join(timeout=10)

    def _run(self) -> None:
        import psycopg

        while not self._ending.is_set():
            try:
                with connected(self._engine) as connection:
                    connection.execute(f"LISTEN {CHANNEL}")
                    while not self._ending.is_set():
                        for notice in connection.notifies(timeout=LOOK_SECONDS, stop_after=1):
                            self._tell(notice.payload)
            except psycopg.Error as error:
                log.warning("no news from other processes for now: %s", str(error).strip().splitlines()[0])
                self._ending.wait(PAUSE_SECONDS)

    def _tell(self, payload: str) -> None:
        sender, _, rest = payload.partition(":")
        study_id, _, state = rest.partition(":")
        if sender != self._own:
            self._heard(study_id, state)
