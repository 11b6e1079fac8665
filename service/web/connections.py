"""Connections that cost a stranger nothing and us something: too many of them, and those that never finish a request.

A header has to arrive within seconds, and so has what is left of a request that was answered already; who takes nothing
of an answer is disconnected; and there is a limit of connections, so that half-sent requests and unread answers cannot
use up all that the process may have open.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from service.contract.wire.errors import ErrorBody, ParetoscopeError, TooSlow, Unavailable
from service.contract.wording.numbers import setting
from service.web.errors import error_json


def _answer(status: str, body: ErrorBody, *more: str) -> bytes:
    """A whole answer that ends its connection."""
    content = error_json(body)
    head = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(content)}", *more]
    return "\r\n".join([*head, "Connection: close", "\r\n"]).encode() + content


def _refusal(status: str, error: ParetoscopeError, *more: str) -> bytes:
    return _answer(status, error.public(), *more)


BUSY = _refusal(
    "503 Service Unavailable", Unavailable("too many connections are open: try again in a moment"), "Retry-After: 5"
)
NO_HTTP = _answer("400 Bad Request", ErrorBody(code="invalid_input", message="this is no HTTP request", details=[]))


RESET = struct.pack("ii", 1, 0)  # SO_LINGER: on, and for no time


class Connection(H11Protocol):
    """uvicorn's, with a limit of how many there are and of how long a request may take to be asked."""

    most = 1000
    header_seconds = 15.0
    answer_seconds = 120.0
    _late: asyncio.TimerHandle | None = None
    _untaken: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.write(BUSY)
            transport.close()
            return
        self._await_header()

    def data_received(self, data: bytes) -> None:
        was_unread = self._is_unread()
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:  # a new header has begun, or none is there yet
            if was_unread:
                self._stop_waiting()
            if self._late is None and self.conn.our_state is h11.IDLE:
                self._await_header()
        elif self.conn.our_state is not h11.DONE:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._is_unread() and self._late is None:
            self._late = self.loop.call_later(self.header_seconds, self._close_unread)

    def send_400_response(self, msg: str) -> None:
        self.transport.write(NO_HTTP)
        self.transport.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._await_taking()

    def resume_writing(self) -> None:
        self._taken()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._taken()
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
            late = TooSlow(f"the header did not arrive within {setting(self.header_seconds)} s")
            self.transport.write(_refusal("408 Request Timeout", late))
            self.transport.close()

    def _close_unread(self) -> None:
        """Whoever goes on sending what nobody reads."""
        self._late = None
        if self._is_unread():
            self.transport.close()

    def _taken(self) -> None:
        if self._untaken is not None:
            self._untaken.cancel()
            self._untaken = None

    def _await_taking(self) -> None:
        waiting = self.transport.get_write_buffer_size()
        self._untaken = self.loop.call_later(self.answer_seconds, self._close_untaken, waiting)

    def _close_untaken(self, waiting: int) -> None:
        """Where nothing of it was taken. Reset, or the system would keep what is on its way for as long."""
        if self.transport.get_write_buffer_size() < waiting:
            self._await_taking()
            return
        self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.transport.abort()

    def _is_unread(self) -> bool:
        """Whether the answer is complete and the request is not."""
        return self.conn.our_state is h11.DONE and self.conn.their_state is h11.SEND_BODY


def limited(most: int, header_seconds: float, answer_seconds: float) -> type[Connection]:
    """The class that uvicorn makes a connection of, with these limits."""
    limits = {"most": most, "header_seconds": header_seconds, "answer_seconds": answer_seconds}
    return type("LimitedConnection", (Connection,), limits)
