"""The one shape of every error: whatever is raised leaves the service in it, and every route documents it."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import TypeAdapter
from starlette.exceptions import HTTPException

from service.contract.study.parsing import path_of
from service.contract.wire.errors import (
    Code,
    Detail,
    ErrorAnswer,
    ErrorBody,
    InvalidInput,
    NoSpace,
    ParetoscopeError,
    TooManyRequests,
)
from service.contract.wording.plain_text import one_line

CODES: dict[int, Code] = {404: "not_found", 405: "method_not_allowed"}
LONGEST = 300
FULL = (errno.ENOSPC, errno.EDQUOT)
_ERROR = TypeAdapter(ErrorAnswer)


def error_json(body: ErrorBody) -> bytes:
    """An error's JSON."""
    return _ERROR.dump_json(ErrorAnswer(error=body))


def error_answer(body: ErrorBody, status: int, headers: Mapping[str, str] | None = None) -> Response:
    return Response(error_json(body), status, headers, media_type="application/json")


def refusal(errors: Sequence[Any]) -> InvalidInput:
    """What pydantic found in a body."""
    details = [
        Detail(path=one_line(path_of(tuple(e["loc"]))), message=f"{e['msg']}, got {e.get('input')!r}"[:LONGEST])
        for e in errors
    ]
    first = details[0]
    return InvalidInput(f"{first.path}: {first.message}" if first.path else first.message, details)


def add_error_handlers(app: FastAPI) -> None:
    @app.exception_handler(ParetoscopeError)
    async def ours(request: Request, error: ParetoscopeError) -> Response:
        later = {"Retry-After": str(error.seconds)} if isinstance(error, TooManyRequests) else None
        return error_answer(error.public(), error.status, later)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        within = [{**each, "loc": each["loc"][1:]} for each in error.errors()]  # without "query", "path", "header"
        refused = refusal(within)
        return error_answer(refused.public(), refused.status)

    @app.exception_handler(HTTPException)
    async def of_the_framework(request: Request, error: HTTPException) -> Response:
        message = one_line(f"{request.method} {request.url.path}: {error.detail}")
        body = ErrorBody(code=CODES.get(error.status_code, "invalid_input"), message=message, details=[])
        return error_answer(body, error.status_code, error.headers)

    @app.exception_handler(OSError)
    async def of_the_disk(request: Request, error: OSError) -> Response:
        """Files of trials; the database has words of its own."""
        if error.errno not in FULL:
            raise error
        full = NoSpace(f"the service's disk is full, and nothing was written: {error.strerror}")
        return error_answer(full.public(), full.status)

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> Response:
        said = "an unexpected error in the service; its log has the details"
        return error_answer(ErrorBody(code="internal", message=said, details=[]), 500)
