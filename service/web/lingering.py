"""A refusal that a client can read while it is still sending.

A connection that is closed with unread data is reset, and the client loses the answer with it. So what is left of a
refused body is taken in and thrown away, up to a bound, before the answer is called complete. It may be as slow as any
other body; a stranger's has some seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.contract.wire.errors import TooSlow
from service.settings import Settings
from service.web.pace import Pace

MOST_BYTES = 64_000_000
LONGEST_SECONDS = 10.0  # for a stranger, who would hold a connection for a few bytes
SHORT_SECONDS = 1.0  # for one that has had its time already


class Lingering:
    """The answer is sent at once; its end waits for the end of the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _has_body(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        is_read, status = False, 200

        async def reading() -> Message:
            nonlocal is_read
            message = await receive()
            is_read = message["type"] == "http.disconnect" or not message.get("more_body", False)
            return message

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            elif status >= 400 and not is_read and not message.get("more_body", False):
                await send({**message, "more_body": True})
                settings: Settings = scope["app"].state.parts.settings
                pace = Pace(settings.body_seconds, settings.body_bytes_per_second)
                await _drain(reading, lambda: is_read, pace, _longest(scope, status))
                message = {"type": "http.response.body", "body": b"", "more_body": False}
            await send(message)

        await self._app(scope, reading, sending)


def _has_body(headers: Headers) -> bool:
    """Of a client that asks first (`Expect`) nothing is on its way."""
    announced = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    return announced and "expect" not in headers


def _longest(scope: Scope, status: int) -> float | None:
    """Seconds for all that is left; None for whoever was let in, whose pace alone counts."""
    if status == TooSlow.status:
        return SHORT_SECONDS
    return None if "caller" in scope.get("state", {}) else LONGEST_SECONDS


async def _drain(receive: Receive, is_read: Callable[[], bool], pace: Pace, seconds: float | None) -> None:
    try:
        async with asyncio.timeout(seconds):
            while not is_read() and pace.size < MOST_BYTES:
                pace.size += len((await pace.next(receive())).get("body", b""))
    except TimeoutError:
        return
