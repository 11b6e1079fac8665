"""Bodies of requests: a route says how large its own may be, and reads it only when it wants to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from service.contract.wire.errors import InvalidInput, TooLarge, TooSlow, UnsupportedType
from service.contract.wording.numbers import setting
from service.settings import Settings
from service.web.errors import refusal
from service.web.pace import Pace

Model = TypeVar("Model", bound=BaseModel)


class Body:
    """What was sent, refused by its announced size before any of it is read, and by its real one while it is."""

    def __init__(self, request: Request, limit: int) -> None:
        self._request, self._limit = request, limit
        announced = request.headers.get("content-length", "")
        self.announced = int(announced) if announced.isdecimal() else None
        self._type = request.headers.get("content-type", "")
        self._check(self.announced or 0)

    def _check(self, size: int) -> None:
        if size > self._limit:
            raise TooLarge(f"the body is over the limit of {self._limit:,} bytes")

    def language(self, taken: Sequence[str]) -> str:
        """Which of these the body is written in. A page of another site can send other types without asking first."""
        kind, _, name = self._type.partition(";")[0].strip().lower().partition("/")
        for each in taken:
            if kind in ("application", "text") and name in (each, f"x-{each}"):
                return each
        wanted = " or ".join(f"application/{each}" for each in taken)
        raise UnsupportedType(f"the body must be {wanted}, got {self._type[:80]!r}")

    async def chunks(self) -> AsyncIterator[bytes]:
        """One by one, at the pace that the settings ask for."""
        settings: Settings = self._request.app.state.parts.settings
        longest, rate = settings.body_seconds, settings.body_bytes_per_second
        pace = Pace(longest, rate)
        pieces = aiter(self._request.stream())
        try:
            while True:
                chunk = await pace.next(anext(pieces, None))
                if chunk is None:
                    return
                pace.size += len(chunk)
                self._check(pace.size)
                yield chunk
        except TimeoutError:
            if pace.is_too_slow:
                raise TooSlow(f"the body arrived slower than {rate:,} bytes a second") from None
            raise TooSlow(f"nothing of the body arrived for {setting(longest)} s") from None
        except ClientDisconnect:
            raise InvalidInput("the upload was interrupted") from None

    async def read(self) -> bytes:
        return b"".join([chunk async for chunk in self.chunks()])

    async def text(self) -> str:
        try:
            return (await self.read()).decode()
        except UnicodeDecodeError as error:
            raise InvalidInput(f"the body is not UTF-8: {error.reason} at byte {error.start}") from None

    async def parsed(self, kind: type[Model]) -> Model:
        """From JSON, checked."""
        self.language(("json",))
        content = await self.read()
        try:
            return await run_in_threadpool(kind.model_validate_json, content)
        except ValidationError as error:
            raise refusal(error.errors()) from None
