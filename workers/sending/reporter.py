"""Events on their way to the service: queued by the training side, sent by a thread that never gives up."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Sequence

from service.contract.wire.errors import Conflict, NotFound, ParetoscopeError, Unavailable
from service.contract.wire.events import (
    Curve,
    Event,
    Metrics,
    Report,
    Setting,
    StudyFailed,
    StudyFinished,
    TrialFailed,
    TrialFinished,
    TrialStarted,
    sendable,
)
from workers.sending.study_client import StudyClient

log = logging.getLogger(__name__)

LARGEST_BATCH = 2000
LINGER_SECONDS = 0.05  # what arrives together travels together


class Reporter:
    """A queue and a thread that posts it in batches. Nothing here blocks or raises into training.

    Uids are deterministic, so an event sent again after a lost answer or a second run changes nothing.
    `ended` is set when the service wants no more: the study is over, cancelled or gone.
    """

    def __init__(self, client: StudyClient) -> None:
        """Closes the client at its own end."""
        self.ended = threading.Event()
        self.failed: dict[str, str] = {}  # reasons by trial
        self._client = client
        self._queue: deque[Event] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._given_up = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reporter", daemon=True)
        self._thread.start()

    def trial_started(self, trial: str, host: str | None = None, config: dict[str, Setting] | None = None) -> None:
        """`config` is what a search suggested, if one did."""
        self._put(TrialStarted(uid=f"{trial}:started", trial=trial, host=host, config=config or None))

    def report(
        self, trial: str, epoch: int, metrics: Metrics, lines: Sequence[str] = (), points: Curve | None = None
    ) -> None:
        log = list(lines) or None
        self._put(Report(uid=f"{trial}:{epoch}", trial=trial, metrics=metrics, points=points, log=log))

    def trial_finished(self, trial: str, lines: Sequence[str] = ()) -> None:
        self._put(TrialFinished(uid=f"{trial}:finished", trial=trial, log=list(lines) or None))

    def trial_failed(self, trial: str, reason: str, lines: Sequence[str] = ()) -> None:
        self.failed[trial] = reason
        log = list(lines) or None
        self._put(TrialFailed(uid=f"{trial}:failed", trial=trial, reason=sendable(reason), log=log))

    def study_finished(self, job: str, reason: str | None = None) -> None:
        self._put(StudyFinished(uid=f"study:finished:{job}", reason=reason))

    def study_failed(self, job: str, reason: str) -> None:
        self._put(StudyFailed(uid=f"study:failed:{job}", reason=sendable(reason)))

    def close(self, timeout: float) -> bool:
        """Send what is queued, for at most `timeout` seconds; whether all of it arrived (or was not wanted)."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(timeout)
        done = not self._thread.is_alive() and not self._queue
        self._given_up.set()
        if not done:
            log.error("%d events did not reach %s", len(self._queue), self._client.url)
        return done

    def _put(self, event: Event) -> None:
        with self._changed:
            if not self.ended.is_set():
                self._queue.append(event)
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
        while parts and not self.ended.is_set():
            part = parts.pop(0)
            try:
                self._client.report(part, self._given_up)
            except (NotFound, Conflict) as error:
                log.info("the service wants no more reports: %s", error.message)
                self.ended.set()
            except Unavailable:  # closed before there was an answer
                return
            except ParetoscopeError as error:
                if len(part) > 1:
                    half = len(part) // 2  # one bad event must not take the good ones with it
                    parts[:0] = [part[:half], part[half:]]
                    continue
                log.error("event %s was refused: %s", part[0].uid, error.message)
            with self._changed:
                for _ in range(len(self._queue) if self.ended.is_set() else len(part)):
                    self._queue.popleft()
