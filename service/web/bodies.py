"""Bodies of requests: a route says how large its own may be, and reads it only when it wants to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from service.contract.wire.errors import InvalidInput, TooLarge
from service.web.errors import refusal

Model = TypeVar("Model", bound=BaseModel)


class Body:
    """What was sent, refused by its announced size before any of it is read, and by its real one while it is."""

    def __init__(self, request: Request, limit: int) -> None:
        self._request, self._limit = request, limit
        announced = request.headers.get("content-length", "")
        self.announced = int(announced) if announced.isdecimal() else None
        self.content_type = request.headers.get("content-type", "")
        self._check(self.announced or 0)

    def _check(self, size: int) -> None:
        if size > self._limit:
            raise TooLarge(f"the body is over the limit of {self._limit:,} bytes")

    async def chunks(self) -> AsyncIterator[bytes]:
        size = 0
        try:
            async for chunk in self._request.stream():
                size += len(chunk)
                self._check(size)
                yield chunk
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
        """From JSON, checked. A page of another site can send other types without asking, so they are refused."""
        if not self.content_type.partition(";")[0].strip().lower().endswith("json"):
            raise InvalidInput(f"the body must be application/json, got {self.content_type[:80]!r}")
        content = await self.read()
        try:
            return await run_in_threadpool(kind.model_validate_json, content)
        except ValidationError as error:
            raise refusal(error.errors()) from None
