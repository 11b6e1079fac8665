"""A service whose Ray ends together with it: what is in training saves its state first, and says its last words."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from service.contract.wire.errors import ParetoscopeError
from service.launching.jobs import Jobs
from service.launching.launcher import Launcher

log = logging.getLogger("paretoscope.leaving")

LOOK_SECONDS = 0.2
LAST_WORDS_SECONDS = 4.0  # Ray kills a driver three seconds after it was asked to end


class Leaving(threading.Thread):
    """Trial processes hear of it as of a pause, within two seconds. Drivers that have not gone in time, or have
    nothing to save, are asked to end: they send what they have. Then `done` is called, whatever happened.
    """

    def __init__(self, launcher: Launcher, jobs: Jobs, seconds: float, done: Callable[[], None]) -> None:
        super().__init__(name="leaving", daemon=True)
        self._launcher, self._jobs, self._seconds, self._done = launcher, jobs, seconds, done

    def run(self) -> None:
        try:
            self._let_go()
        except ParetoscopeError as error:  # Ray is gone already
            log.warning("not all drivers could be waited for: %s", error.message)
        finally:
            self._done()

    def _let_go(self) -> None:
        self._launcher.leaving.set()
        deadline = time.monotonic() + self._seconds
        asked: set[str] = set()
        while (live := self._jobs.live()) and time.monotonic() < deadline:
            for job in live - asked:
                if not self._launcher.trains(job):
                    self._jobs.stop(job)
                    asked.add(job)
            time.sleep(LOOK_SECONDS)
        for job in live - asked:
            log.warning("job %s did not save its states in time", job, extra={"job": job})
            self._jobs.stop(job)
        deadline = time.monotonic() + LAST_WORDS_SECONDS
        while self._jobs.live() and time.monotonic() < deadline:
            time.sleep(LOOK_SECONDS)
