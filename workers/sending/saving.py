"""A cohort saves its state with the service: now and then, when the study is paused or Ray ends, and at its end."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING

from service.contract.wire.cohort_state import Members, key_of
from service.contract.wire.epoch_report import EpochReport
from service.contract.wire.errors import ParetoscopeError
from workers.sending.study_client import StudyClient

if TYPE_CHECKING:
    from workers.sending.cohort_state import Saved
    from workers.training.loop import Progress

log = logging.getLogger(__name__)

ASK_SECONDS = 2.0  # between two questions whether to leave
SAVE_SECONDS = 120.0
LAST_SECONDS = 5.0


class Saving:
    """What stands `between` two epochs. A thread asks whether to leave and sends what is to be saved, so that a
    service that is slow or away costs no training.

    Reports since the save before the last are saved too: some may not have reached the log when their process dies.
    """

    def __init__(
        self,
        client: StudyClient,
        members: Members,
        every: float = SAVE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.left = False
        self._client, self._members, self._key = client, members, key_of(members)
        self._every, self._clock = every, clock
        self._last = self._asked_at = clock()
        self._reports: list[list[EpochReport]] = [[], []]  # before the last save, and since
        self._pending: bytes | None = None
        self._anew = False  # whether what is kept of these members could not be read
        self._refusal = ""  # the last one, which is told once
        self._leave, self._closing = threading.Event(), threading.Event()
        self._wake, self._sending = threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._run, name="saving", daemon=True)
        self._thread.start()

    def saved(self, members: Members | None = None) -> Saved | None:
        """Where these members were left, or others; none when they start from the beginning.

        A service that is away is waited for, and whatever it refuses is raised: only its word that there is no state,
        or one that cannot be read, is worth training again.
        """
        content = self._client.saved_state(self._key if members is None else key_of(members))
        if content is None:
            return None
        from workers.sending.cohort_state import unpacked  # torch is needed for nothing before that

        try:
            return unpacked(content)
        except ValueError as error:
            log.warning("these trials start from the beginning, as their saved state cannot be read: %s", error)
            self._anew = self._anew or members is None
            return None

    @property
    def is_to_leave(self) -> bool:
        """Whether the cohort should leave as soon as it can."""
        return self._leave.is_set()

    @property
    def asked_for(self) -> float:
        """Seconds since it has to leave; 0 where it has not."""
        return self._clock() - self._asked_at if self._leave.is_set() else 0.0

    def said(self, report: EpochReport) -> None:
        """Told of each report before it is sent."""
        self._reports[1].append(report)

    def __call__(self, progress: Progress) -> bool:
        """Whether the cohort is to leave; then its state is saved."""
        if self._leave.is_set():
            self.leave(progress)
            return True
        if not progress.is_empty and self._pending is None and self._clock() - self._last >= self._every:
            self._pending = self._packed(progress)
            self._wake.set()
        return False

    def leave(self, progress: Progress) -> None:
        """The cohort does, even if it has to no longer: its state is saved, if there is one."""
        self.left = True
        with self._sending:  # what is older must not come after
            self._pending = None
            if not progress.is_empty:
                self._send(self._packed(progress))

    def keep(self, progress: Progress, last: EpochReport) -> None:
        """At the end, for more epochs: before the last report is sent, and with it, should that be lost. There is no
        next time, so a service that is away is waited for."""
        with self._sending:
            self._pending = None
            self._reports[1].append(last)
            self._send(self._packed(progress), inf)

    def close(self) -> None:
        """What it is just asking is waited for, as its client is closed next; a service that hangs is not."""
        self._closing.set()
        self._wake.set()
        self._thread.join(timeout=LAST_SECONDS)

    def _packed(self, progress: Progress) -> bytes:
        from workers.sending.cohort_state import packed

        self._last = self._clock()
        content = packed(self._members, progress, [*self._reports[0], *self._reports[1]])
        self._reports = [self._reports[1], []]
        return content

    def _run(self) -> None:
        while not self._closing.is_set():
            self._ask()
            self._wake.wait(ASK_SECONDS)
            self._wake.clear()
            with self._sending:
                if self._pending is not None and not self._closing.is_set():
                    self._send(self._pending)
                    self._pending = None

    def _ask(self) -> None:
        try:
            leave = self._client.is_to_leave(self._closing)
        except (ParetoscopeError, ValueError):  # no answer, or none of ours
            return
        if leave:
            self._asked_at = self._asked_at if self._leave.is_set() else self._clock()
            self._leave.set()
        else:
            self._leave.clear()

    def _send(self, content: bytes, seconds: float | None = None) -> None:
        """What cannot be saved now is saved the next time; the training itself goes well."""
        try:
            self._client.save_state(self._key, content, self._closing, self._anew, seconds)
            self._anew = False
        except ParetoscopeError as error:
            if error.message != self._refusal:
                log.warning("the state could not be saved: %s", error.message)
            self._refusal = error.message
