"""The service as drivers and workers know it: a study to fetch, to report about and to upload for.

One rule says what is tried again, how often, and what is final.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from types import TracebackType
from typing import NamedTuple

import httpx
from pydantic import SecretStr

from paretoscope import __version__
from service.contract.wire.answers.health import INSTANCE
from service.contract.wire.answers.read_by_drivers import (
    KnownBatch,
    KnownError,
    KnownRefusal,
    KnownState,
    KnownStudy,
    KnownTrial,
    KnownTrials,
)
from service.contract.wire.cohort_state import CohortState, CohortStates
from service.contract.wire.errors import (
    Conflict,
    InvalidInput,
    NotFound,
    OtherVersion,
    ParetoscopeError,
    TooLarge,
    Unavailable,
)
from service.contract.wire.events import STATE_HEADER, Event, StudyState, sent_body
from service.contract.wire.versions import VERSION
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


class Answered(NamedTuple):
    """What the service says to a batch of events: those that it did not take, and the study's state then."""

    refusals: list[KnownRefusal]
    state: StudyState | None


class StudyClient:
    """Tries again, with growing pauses, until the service answers about the request itself.

    NotFound and Conflict say that the study is over or gone, OtherVersion that the service is not meant for this
    process, any other ParetoscopeError that the request was refused, Unavailable that there was no answer in time.
    Safe to share between threads.
    """

    def __init__(
        self,
        url: str,
        token: str | None,
        study_id: str,
        transport: httpx.BaseTransport | None = None,
        job: str | None = None,
    ) -> None:
        """`job` names a driver, and none a trial's process: its reports are turned away once another has its place."""
        self.url, self.token = url, None if token is None else SecretStr(token)
        self._answered = False
        self._sender = {} if job is None else {"job": job}
        self._instance = os.environ.get("PARETOSCOPE_INSTANCE")
        self._path = f"/api/studies/{study_id}"
        self._http = httpx.Client(
            base_url=url,
            headers={**said_by("trial" if job is None else "driver"), **(_bearer(token) if token else {})},
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

    def report(self, events: Sequence[Event], stop: threading.Event) -> Answered:
        """Tried without end, until `stop` is set: what was measured is not given up."""
        try:
            sent = {"events": [sent_body(event) for event in events], **self._sender}
            body = json.dumps(sent, allow_nan=False).encode()
        except ValueError as error:
            raise InvalidInput(f"cannot be written as JSON: {error}") from error
        answer = self._ask("POST", "/reports", body, JSON, seconds=inf, stop=stop)
        said = answer.headers.get(STATE_HEADER, "")
        state = StudyState(said) if said in set(StudyState) else None
        return Answered(KnownBatch.model_validate_json(answer.content).refusals, state)

    def is_to_leave(self, stop: threading.Event) -> bool:
        """Whether a cohort saves its state and leaves; asked once, as whoever asks will ask again."""
        return KnownState.model_validate_json(self._ask("GET", "/state", seconds=0, stop=stop).content).leave

    def cohorts(self) -> list[CohortState]:
        """Who was saved, and after which epoch they go on."""
        return CohortStates.model_validate_json(self._ask("GET", "/cohorts").content).cohorts

    def save_state(self, cohort: str, content: bytes, stop: threading.Event) -> None:
        self._ask("PUT", f"/cohorts/{cohort}/state", content, stop=stop)

    def saved_state(self, cohort: str) -> bytes | None:
        try:
            return self._ask("GET", f"/cohorts/{cohort}/state").content
        except NotFound:
            return None

    def upload(self, trial: str, name: str, content: bytes) -> None:
        """Tried without end, if the service has ever answered: what was trained is not given up while it is away."""
        seconds = inf if self._answered else None
        self._ask("PUT", f"/trials/{trial}/artifacts/{name}", content, seconds=seconds)

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
                self._answered = True
                if answer.is_success:
                    return answer
                if answer.status_code == OtherVersion.status:
                    raise OtherVersion(words_of(answer))
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

    def _check_who_answers(self, answer: httpx.Response) -> None:
        """Another service at this address knows nothing of the study: that is no answer, and not the study's end."""
        if self._instance is not None and answer.headers.get(INSTANCE) != self._instance:
            raise httpx.RemoteProtocolError("another service answers there")

    def __enter__(self) -> StudyClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()


def said_by(sender: str) -> dict[str, str]:
    """The header that says who asks, and in which version."""
    return {VERSION: f"{sender}/{__version__}"}


def words_of(answer: httpx.Response) -> str:
    """The message of a refusal in the usual shape."""
    try:
        return str(answer.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return _said(answer)


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _said(answer: httpx.Response) -> str:
    """The service's own words, where they are such."""
    try:
        return KnownError.model_validate_json(answer.content).error.message
    except ValueError:
        return f"status {answer.status_code}: {answer.text[:1000]}"
