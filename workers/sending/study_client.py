"""The service as drivers and workers know it: a study to fetch, to report about and to upload for.

One rule says what is tried again, how often, and what is final.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from types import TracebackType

import httpx

from service.contract.wire.answers.read_by_drivers import KnownStudy, KnownTrial, KnownTrials
from service.contract.wire.errors import Conflict, InvalidInput, NotFound, ParetoscopeError, TooLarge, Unavailable
from service.contract.wire.events import Event, sent_body
from service.contract.wording.numbers import setting

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 60.0  # without one answer; a service that was started again is back long before
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
TOLD_EVERY_SECONDS = 60.0
PAGE = 1000
JSON = {"Content-Type": "application/json"}

# About who sends, when and how often, not about what is sent: the same request may be taken later.
PASSING = {
    httpx.codes.UNAUTHORIZED,
    httpx.codes.FORBIDDEN,
    httpx.codes.REQUEST_TIMEOUT,
    httpx.codes.TOO_MANY_REQUESTS,
}
REFUSALS = {error.status: error for error in (NotFound, Conflict, TooLarge, InvalidInput)}


class StudyClient:
    """Tries again, with growing pauses, until the service answers about the request itself.

    NotFound and Conflict say that the study is over or gone, any other ParetoscopeError that the request was refused,
    Unavailable that there was no such answer in time. Safe to share between threads.
    """

    def __init__(
        self, url: str, token: str | None, study_id: str, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.url = url
        self._path = f"/api/studies/{study_id}"
        self._http = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=httpx.Timeout(30.0, connect=5.0),
            trust_env=False,
            transport=transport,
        )

    def study(self) -> KnownStudy:
        return KnownStudy.model_validate_json(self._ask("GET", "").content)

    def trials(self) -> Iterator[KnownTrial]:
        """All of them, page by page."""
        after: str | None = None
        while True:
            query = {"limit": str(PAGE)} if after is None else {"limit": str(PAGE), "after": after}
            page = KnownTrials.model_validate_json(self._ask("GET", "/trials", query=query).content)
            yield from page.trials
            after = page.next
            if after is None:
                return

    def report(self, events: Sequence[Event], stop: threading.Event) -> None:
        """Tried without end, until `stop` is set: what was measured is not given up."""
        try:
            body = json.dumps({"events": [sent_body(event) for event in events]}, allow_nan=False).encode()
        except ValueError as error:
            raise InvalidInput(f"cannot be written as JSON: {error}") from error
        self._ask("POST", "/reports", body, JSON, seconds=inf, stop=stop)

    def upload(self, trial: str, name: str, content: bytes) -> None:
        self._ask("PUT", f"/trials/{trial}/artifacts/{name}", content)

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
                if answer.is_success:
                    return answer
                if answer.is_client_error and answer.status_code not in PASSING:
                    raise REFUSALS.get(answer.status_code, ParetoscopeError)(_said(answer))
                trouble = f"status {answer.status_code}"
            except httpx.HTTPError as error:
                trouble = str(error) or type(error).__name__
            now = time.monotonic()
            if now + pause > begun + seconds:
                raise Unavailable(
                    f"no answer from the service at {self.url}, tried for {setting(seconds)} s: {trouble}"
                )
            if now - told > TOLD_EVERY_SECONDS:
                log.warning("the service at %s cannot be reached: %s; still trying", self.url, trouble)
                told = now
            if stop.wait(pause):
                raise Unavailable(f"no answer from the service at {self.url} before the end: {trouble}")
            pause = min(2 * pause, LONGEST_PAUSE)

    def __enter__(self) -> StudyClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()


def _said(answer: httpx.Response) -> str:
    return f"status {answer.status_code}: {answer.text[:1000]}"
