"""Events on their way to the service: queued by the training side, sent by a thread that never gives up."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

import httpx

log = logging.getLogger(__name__)

Event = dict[str, Any]

LARGEST_BATCH = 2000
LINGER_SECONDS = 0.05  # what arrives together travels together
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
REASON_LENGTH = 4000
ENDED = {httpx.codes.NOT_FOUND, httpx.codes.CONFLICT}
TOO_MUCH = {httpx.codes.UNPROCESSABLE_ENTITY, httpx.codes.REQUEST_ENTITY_TOO_LARGE}


class Reporter:
    """A queue and a thread that posts it in batches. Nothing here blocks or raises into training.

    Uids are deterministic, so an event sent again after a lost answer or a second run changes nothing.
    `ended` is set when the service wants no more: the study is over, cancelled or gone.
    """

    def __init__(
        self, url: str, token: str | None, study_id: str, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.ended = threading.Event()
        self._path = f"/api/studies/{study_id}/reports"
        self._client = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=httpx.Timeout(30.0, connect=5.0),
            trust_env=False,
            transport=transport,
        )
        self._queue: deque[Event] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._given_up = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reporter", daemon=True)
        self._thread.start()

    def trial_started(self, trial: str, host: str | None = None, config: dict[str, Any] | None = None) -> None:
        """`config` is what a search suggested, if one did."""
        event = {"uid": f"{trial}:started", "kind": "trial_started", "trial": trial, "host": host}
        self._put({**event, "config": config or None})

    def report(self, trial: str, epoch: int, metrics: dict[str, float | None], lines: Sequence[str] = ()) -> None:
        finite = {name: value if _is_finite(value) else None for name, value in metrics.items()}
        event = {"uid": f"{trial}:{epoch}", "kind": "report", "trial": trial, "metrics": finite}
        self._put({**event, "log": list(lines) or None})

    def trial_finished(self, trial: str, lines: Sequence[str] = ()) -> None:
        event = {"uid": f"{trial}:finished", "kind": "trial_finished", "trial": trial}
        self._put({**event, "log": list(lines) or None})

    def trial_failed(self, trial: str, reason: str, lines: Sequence[str] = ()) -> None:
        reason = reason[:REASON_LENGTH]
        event = {"uid": f"{trial}:failed", "kind": "trial_failed", "trial": trial, "reason": reason}
        self._put({**event, "log": list(lines) or None})

    def study_finished(self, job: str, reason: str | None = None) -> None:
        self._put({"uid": f"study:finished:{job}", "kind": "study_finished", "reason": reason})

    def study_failed(self, job: str, reason: str) -> None:
        reason = reason[:REASON_LENGTH]
        self._put({"uid": f"study:failed:{job}", "kind": "study_failed", "reason": reason})

    def close(self, timeout: float) -> bool:
        """Send what is queued, for at most `timeout` seconds; whether all of it arrived (or was not wanted)."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(timeout)
        done = not self._thread.is_alive() and not self._queue
        self._given_up.set()
        if not done:
            log.error("%d events did not reach %s", len(self._queue), self._client.base_url)
        return done

    def _put(self, event: Event) -> None:
        with self._changed:
            if not self.ended.is_set():
                self._queue.append({key: value for key, value in event.items() if value is not None})
                self._changed.notify()

    def _run(self) -> None:
        with self._client:
            while not self._given_up.is_set() and (batch := self._next_batch()):
                self._deliver(batch)

    def _next_batch(self) -> list[Event]:
        """Waits for events; empty when closing and nothing is left. The queue keeps a batch until it is sent."""
        with self._changed:
            while not self._queue and not self._closing:
                self._changed.wait()
            if not self._closing and len(self._queue) < LARGEST_BATCH:
                self._changed.wait_for(lambda: self._closing, LINGER_SECONDS)
            return [self._queue[i] for i in range(min(len(self._queue), LARGEST_BATCH))]

    def _deliver(self, batch: list[Event]) -> None:
        """Send a batch until the service has it, refuses it, or wants no more."""
        parts = [batch]
        while parts and not self.ended.is_set() and not self._given_up.is_set():
            part = parts.pop(0)
            answer = self._post(part)
            if answer is None:
                return
            if answer.status_code in ENDED:
                log.info("the service wants no more reports (%d)", answer.status_code)
                self.ended.set()
            elif answer.status_code in TOO_MUCH and len(part) > 1:
                half = len(part) // 2  # one bad event must not take the good ones with it
                parts[:0] = [part[:half], part[half:]]
                continue
            elif answer.is_error:
                log.error("event %s was refused: %s", part[0]["uid"], answer.text[:1000])
            with self._changed:
                for _ in range(len(self._queue) if self.ended.is_set() else len(part)):
                    self._queue.popleft()

    def _post(self, events: list[Event]) -> httpx.Response | None:
        """Try until there is an answer about the events themselves; None when the reporter was closed first."""
        pause, said = FIRST_PAUSE, 0.0
        while not self._given_up.is_set():
            try:
                answer = self._client.post(self._path, json={"events": events})
                if answer.is_success or answer.status_code in ENDED | TOO_MUCH:
                    return answer
                trouble = f"status {answer.status_code}"
            except httpx.HTTPError as error:
                trouble = str(error) or type(error).__name__
            if time.monotonic() - said > 60:
                log.warning("cannot report to %s: %s; trying on", self._client.base_url, trouble)
                said = time.monotonic()
            self._given_up.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        return None


def _is_finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
