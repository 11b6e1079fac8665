"""Events on their way to the service: queued by the training side, sent by a thread that never gives up."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence

from pydantic import SecretStr

from service.contract.wire.errors import Conflict, NotFound, OtherVersion, ParetoscopeError, Unavailable
from service.contract.wire.events import (
    Curve,
    Event,
    Metrics,
    Report,
    Setting,
    StudyFailed,
    StudyFinished,
    StudyState,
    TrialFailed,
    TrialFinished,
    TrialStarted,
    TrialStopped,
    TrialSuggested,
    sendable,
)
from workers.planning.rounds import Round
from workers.sending.study_client import StudyClient

log = logging.getLogger(__name__)

LARGEST_BATCH = 2000
LINGER_SECONDS = 0.05  # what arrives together travels together


class Reporter:
    """A queue and a thread that posts it in batches. Nothing here blocks or raises into training.

    Uids are deterministic, so an event sent again after a lost answer or a second run changes nothing.
    `ended` is set when the service wants no more: the study is over, cancelled or gone.
    """

    def __init__(self, client: StudyClient, run: str = "") -> None:
        """Closes the client at its own end. `run` tells the starts of one driver from those of another."""
        self.ended = threading.Event()
        self.other_version: str | None = None  # why the service takes nothing from this driver
        self.paused = threading.Event()  # by what the service answered last
        self.failed: dict[str, str] = {}  # reasons by trial
        self.reported = False  # whether any trial told what it measured, or finished
        self.rounds: Mapping[str, Round] = {}
        self.missing: dict[str, str] = {}  # of finished trials, what could not be kept
        self._client, self._run_name = client, run
        self._starts: Counter[str] = Counter()
        self._queue: deque[Event] = deque()
        self._since: deque[float] = deque()  # when each of them happened
        self._changed = threading.Condition()
        self._closing = False
        self._given_up = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reporter", daemon=True)
        self._thread.start()

    def trial_started(
        self,
        trial: str,
        host: str | None = None,
        config: dict[str, Setting] | None = None,
        epoch: int | None = None,
    ) -> None:
        """`config` is what a search suggested, if one did; `epoch` says that it starts again, and after which one.

        A first start has one name in all drivers; one that starts it again, its own.
        """
        uid = f"{self._name(trial)}:started"
        if epoch is not None:
            self._starts[trial] += 1
            uid = f"{uid}:{self._run_name}:{self._starts[trial]}"
        self._put(TrialStarted(uid=uid, trial=trial, host=host, config=config or None, epoch=epoch))

    def report(
        self, trial: str, epoch: int, metrics: Metrics, lines: Sequence[str] = (), points: Curve | None = None
    ) -> None:
        self.reported = True
        log = list(lines) or None
        self._put(Report(uid=f"{self._name(trial)}:{epoch}", trial=trial, metrics=metrics, points=points, log=log))

    def trial_finished(self, trial: str, lines: Sequence[str] = (), missing: str | None = None) -> None:
        """`missing` says which of its files could not be kept, and why."""
        self.reported = True
        if missing:
            self.missing[trial] = missing
        reason = sendable(missing) if missing else None
        self._put(
            TrialFinished(
                uid=f"{self._name(trial)}:finished{self._extension(trial)}",
                trial=trial,
                reason=reason,
                log=list(lines) or None,
            )
        )

    def trial_failed(self, trial: str, reason: str, lines: Sequence[str] = ()) -> None:
        self.failed[trial] = reason
        log = list(lines) or None
        self._put(
            TrialFailed(
                uid=f"{self._name(trial)}:failed{self._extension(trial)}", trial=trial, reason=sendable(reason), log=log
            )
        )

    def trial_stopped(self, trial: str, epoch: int, reason: str) -> None:
        self._put(TrialStopped(uid=f"{self._name(trial)}:stopped", trial=trial, epoch=epoch, reason=sendable(reason)))

    def trial_suggested(self, trial: str, config: dict[str, Setting]) -> None:
        """From now on it can be asked for by whoever trains elsewhere."""
        self._put(TrialSuggested(uid=f"{self._name(trial)}:suggested", trial=trial, config=config))

    def ended_elsewhere(self, trial: str, failure: str | None) -> None:
        """What the service has heard of a trial counts for the study as what this driver would have told."""
        if failure is None:
            self.reported = True
        else:
            self.failed[trial] = failure

    def _name(self, trial: str) -> str:
        """What is trained anew is told anew; an epoch that an extended trial trains again is the same."""
        retries, extensions, anew = self.rounds.get(trial, Round())
        name = f"{trial}:retry{retries}" if retries else trial
        return f"{name}:anew{extensions}" if anew and extensions else name

    def _extension(self, trial: str) -> str:
        extensions = self.rounds.get(trial, Round()).extensions
        return f":{extensions}" if extensions else ""

    def study_finished(self, job: str, reason: str | None = None, spared: Sequence[str] = ()) -> None:
        """`spared` are trials that were not needed."""
        said = sendable(reason) if reason else None
        self._put(StudyFinished(uid=f"study:finished:{job}", reason=said, spared=list(spared) or None))

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

    @property
    def token(self) -> SecretStr | None:
        """With which its client calls the service; trials call it too."""
        return self._client.token

    def _put(self, event: Event) -> None:
        with self._changed:
            if not self.ended.is_set():
                self._queue.append(event)
                self._since.append(time.time())
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

    def _heard(self, state: StudyState | None) -> None:
        if state is StudyState.PAUSED:
            self.paused.set()
        else:
            self.paused.clear()

    def _deliver(self, batch: list[Event]) -> None:
        """Send a batch until the service has it, refuses it, or wants no more."""
        parts = [batch]
        while parts and not self.ended.is_set():
            part = parts.pop(0)
            try:
                answer = self._client.report(part, self._given_up, self._since[0])
                self._heard(answer.state)
                for refusal in answer.refusals:
                    log.error("event %s was refused: %s", refusal.uid, refusal.reason)
            except (NotFound, Conflict) as error:
                log.info("the service wants no more reports: %s", error.message)
                self.ended.set()
            except OtherVersion as error:  # it was upgraded meanwhile; what was not sent is trained again
                log.error("%s", error.message)
                self.other_version = error.message
                self.ended.set()
            except Unavailable:  # closed before there was an answer
                return
            except ParetoscopeError as error:
                if len(part) > 1:
                    half = len(part) // 2  # one bad event must not take the good ones with it
                    parts[:0] = [part[:half], part[half:]]
                    continue
                said = {"trial": getattr(part[0], "trial", None)}
                log.error("event %s was refused: %s", part[0].uid, error.message, extra=said)
            with self._changed:
                for _ in range(len(self._queue) if self.ended.is_set() else len(part)):
                    self._queue.popleft()
                    self._since.popleft()
