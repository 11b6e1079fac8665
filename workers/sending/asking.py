"""Asking the service: one rule says what is tried again, how often, and what is final."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Mapping
from math import inf
from types import TracebackType
from typing import Self

import httpx
from pydantic import SecretStr

from paretoscope import __version__
from service.contract.wire.answers.health import INSTANCE
from service.contract.wire.answers.read_by_drivers import KnownError
from service.contract.wire.errors import (
    Conflict,
    InvalidInput,
    NoSpace,
    NotFound,
    OtherVersion,
    ParetoscopeError,
    TooLarge,
    Unavailable,
)
from service.contract.wire.versions import VERSION
from service.contract.wording.numbers import setting

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 60.0  # without one answer; a service that was started again is back long before
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
TOLD_EVERY_SECONDS = 60.0

# About who sends, when and how often, not about what is sent: the same request may be taken later.
PASSING = {
    httpx.codes.UNAUTHORIZED,
    httpx.codes.FORBIDDEN,
    httpx.codes.REQUEST_TIMEOUT,
    httpx.codes.TOO_MANY_REQUESTS,
}
REFUSALS = {error.status: error for error in (NotFound, Conflict, TooLarge, InvalidInput)}


class Asking:
    """Tries again, with growing pauses, until the service answers about the request itself.

    NotFound and Conflict say that what is asked about is over or gone, OtherVersion that the service is not meant for
    this process, any other ParetoscopeError that the request was refused, Unavailable that there was no answer in time.
    Safe to share between threads.
    """

    def __init__(
        self, url: str, token: str | None, path: str, sender: str, transport: httpx.BaseTransport | None = None
    ) -> None:
        """`path` is what is asked about, `sender` who asks."""
        self.url, self.token = url, None if token is None else SecretStr(token)
        self._instance = os.environ.get("PARETOSCOPE_INSTANCE")
        self._path = path
        self._http = httpx.Client(
            base_url=url,
            headers={VERSION: f"{sender}/{__version__}", **(_bearer(token) if token else {})},
            timeout=httpx.Timeout(30.0, connect=5.0),
            trust_env=False,
            transport=transport,
        )

    def _ask(
        self,
        method: str,
        path: str,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        seconds: float | None = None,
        stop: threading.Event | None = None,
    ) -> httpx.Response:
        seconds, stop = PATIENCE_SECONDS if seconds is None else seconds, stop or threading.Event()
        begun, pause, told = time.monotonic(), FIRST_PAUSE, -inf
        while True:
            try:
                answer = self._http.request(method, self._path + path, content=content, headers=headers, params=query)
                self._check_who_answers(answer)
                if answer.is_success:
                    return answer
                if answer.status_code == OtherVersion.status:
                    raise OtherVersion(_said(answer))
                if answer.is_client_error and answer.status_code not in PASSING:
                    raise REFUSALS.get(answer.status_code, ParetoscopeError)(_said(answer))
                trouble = f"status {answer.status_code}"
                if answer.status_code == NoSpace.status:
                    trouble = _said(answer)
            except httpx.HTTPError as error:
                trouble = str(error) or type(error).__name__
            now = time.monotonic()
            if now + pause > begun + seconds:
                tried = f", tried for {setting(seconds)} s" if seconds else ""
                raise Unavailable(f"no answer from the service at {self.url}{tried}: {trouble}")
            if now - told > TOLD_EVERY_SECONDS:
                log.warning("the service at %s cannot be reached: %s; still trying", self.url, trouble)
                told = now
            if stop.wait(pause):
                raise Unavailable(f"no answer from the service at {self.url} before the end: {trouble}")
            pause = min(2 * pause, LONGEST_PAUSE)

    def _check_who_answers(self, answer: httpx.Response) -> None:
        """Another service at this address knows nothing of the study: that is no answer, and not the study's end."""
        if self._instance is not None and answer.headers.get(INSTANCE) != self._instance:
            raise httpx.RemoteProtocolError("another service answers there")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _said(answer: httpx.Response) -> str:
    """The service's own words, where they are such."""
    try:
        return KnownError.model_validate_json(answer.content).error.message
    except ValueError:
        return f"status {answer.status_code}: {answer.text[:1000]}"
