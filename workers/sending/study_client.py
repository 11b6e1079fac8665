"""The service as drivers and workers know it: a study to fetch, to report about and to upload for."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from math import inf
from typing import NamedTuple

import httpx

from service.contract.wire.answers.read_by_drivers import (
    KnownBatch,
    KnownCode,
    KnownRefusal,
    KnownState,
    KnownStudy,
    KnownTrial,
    KnownTrials,
)
from service.contract.wire.cohort_state import CohortState, CohortStates
from service.contract.wire.errors import InvalidInput, NotFound
from service.contract.wire.events import SINCE_HEADER, STATE_HEADER, Event, StudyState, sent_batch
from service.contract.wire.reading import CodeReading
from workers.sending.asking import Asking

PAGE = 1000
JSON = {"Content-Type": "application/json"}


class Answered(NamedTuple):
    """What the service says to a batch of events: those that it did not take, and the study's state then."""

    refusals: list[KnownRefusal]
    state: StudyState | None


class StudyClient(Asking):
    """What is asked about one study."""

    def __init__(
        self,
        url: str,
        token: str | None,
        study_id: str,
        transport: httpx.BaseTransport | None = None,
        job: str | None = None,
    ) -> None:
        """`job` names a driver, and none a trial's process: its reports are turned away once another has its place."""
        super().__init__(url, token, f"/api/studies/{study_id}", "trial" if job is None else "driver", transport)
        self._job = job

    def study(self) -> KnownStudy:
        return KnownStudy.model_validate_json(self._ask("GET", "").content)

    def trials(self, arm: str | None = None) -> Iterator[KnownTrial]:
        """All of them, or of one arm, page by page."""
        after: str | None = None
        asked = {"limit": str(PAGE)} if arm is None else {"limit": str(PAGE), "arm": arm}
        while True:
            query = asked if after is None else {**asked, "after": after}
            page = KnownTrials.model_validate_json(self._ask("GET", "/trials", query=query).content)
            yield from page.trials
            after = page.next
            if after is None:
                return

    def report(self, events: Sequence[Event], stop: threading.Event, since: float | None = None) -> Answered:
        """Tried without end, until `stop` is set: what was measured is not given up. `since` is when the first of
        them happened, in seconds since 1970."""
        try:
            body = sent_batch(events, self._job)
        except ValueError as error:
            raise InvalidInput(f"cannot be written as JSON: {error}") from error
        headers = JSON if since is None else {**JSON, SINCE_HEADER: str(round(since, 3))}
        answer = self._ask("POST", "/reports", body, headers, seconds=inf, stop=stop)
        said = answer.headers.get(STATE_HEADER, "")
        state = StudyState(said) if said in set(StudyState) else None
        return Answered(KnownBatch.model_validate_json(answer.content).refusals, state)

    def is_to_leave(self, stop: threading.Event) -> bool:
        """Whether a cohort saves its state and leaves; asked once, as whoever asks will ask again."""
        return KnownState.model_validate_json(self._ask("GET", "/state", seconds=0, stop=stop).content).leave

    def state(self, stop: threading.Event) -> KnownState:
        """Where the study is, and whether anything has happened; tried without end, until `stop` is set."""
        return KnownState.model_validate_json(self._ask("GET", "/state", seconds=inf, stop=stop).content)

    def cohorts(self) -> list[CohortState]:
        """Who was saved, and after which epoch they go on."""
        return CohortStates.model_validate_json(self._ask("GET", "/cohorts").content).cohorts

    def save_state(
        self, cohort: str, content: bytes, stop: threading.Event, anew: bool = False, seconds: float | None = None
    ) -> None:
        """`anew` says that the one that is kept could not be read, and none may be lost by being replaced."""
        query = {"anew": "true"} if anew else None
        self._ask("PUT", f"/cohorts/{cohort}/state", content, query=query, stop=stop, seconds=seconds)

    def saved_state(self, cohort: str) -> bytes | None:
        """None only where the service says that there is none. Tried without end: whoever took no answer for that
        would train again what is saved, and a process whose driver has ended is ended with it."""
        try:
            return self._ask("GET", f"/cohorts/{cohort}/state", seconds=inf).content
        except NotFound:
            return None

    def upload(self, trial: str, name: str, content: bytes) -> None:
        """Tried without end: what was trained is not given up while the service is away, or has no room."""
        self._ask("PUT", f"/trials/{trial}/artifacts/{name}", content, seconds=inf)

    def code(self) -> bytes:
        """The files of its own code, as an archive; without them its trials would fail, so no answer is waited for."""
        return self._ask("GET", "/code", seconds=inf).content


class CodeClient(Asking):
    """What is asked about code that is to be read."""

    def __init__(self, url: str, token: str | None, code_hash: str) -> None:
        super().__init__(url, token, f"/api/code/{code_hash}", "driver")

    def content(self) -> bytes:
        return self._ask("GET", "/content").content

    def entry(self) -> str:
        """The file to import."""
        return KnownCode.model_validate_json(self._ask("GET", "").content).entry

    def describe(self, said: CodeReading) -> None:
        self._ask("POST", "/description", said.model_dump_json().encode(), JSON)
