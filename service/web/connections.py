"""Connections that cost a stranger nothing and us something: too many of them, and those that never finish a request.

A header has to arrive within seconds, and there is a limit of connections, so that half-sent requests cannot use up all
that the process may have open.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from service.contract.wire.errors import Unavailable
from service.web.errors import written

BUSY = written(Unavailable("too many connections are open: try again in a moment").public())
LATE = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class Connection(H11Protocol):
    """uvicorn's, with a limit of how many there are and of how long a request may take to be asked."""

    most = 1000
    header_seconds = 15.0
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > self.most:
            head = f"HTTP/1.1 503 Service Unavailable\r\nContent-Length: {len(BUSY)}\r\nConnection: close\r\n"
            transport.write(f"{head}Content-Type: application/json\r\nRetry-After: 5\r\n\r\n".encode() + BUSY)
            transport.close()
            return
        self._await_header()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:  # a new header has begun, or none is there yet
            if self._late is None and self.conn.our_state is h11.IDLE:
                self._await_header()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _await_header(self) -> None:
        self._late = self.loop.call_later(self.header_seconds, self._close_late)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _close_late(self) -> None:
        self._late = None
        if not self.transport.is_closing() and self.conn.their_state is h11.IDLE and self.conn.our_state is h11.IDLE:
            self.transport.write(LATE)
            self.transport.close()


def limited(most: int, header_seconds: float) -> type[Connection]:
    """The class that uvicorn makes a connection of, with these limits."""
    return type("LimitedConnection", (Connection,), {"most": most, "header_seconds": header_seconds})
