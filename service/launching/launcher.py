"""Hands studies to Ray: a queue, a limit of studies at once, cancelling, and recovery of drivers that died.

One rule does most of it: compare what the log says should run with what Ray says does run.
"""

from __future__ import annotations

import logging
import secrets
import threading
from contextlib import suppress

from service.contract.wire.errors import Conflict, NotFound, Unavailable
from service.contract.wire.events import REASON_LENGTH, Event, StudyCancelled, StudyFailed, StudyStarted, StudyState
from service.launching.jobs import Jobs, JobStatus
from service.settings import Settings
from service.store.protocol import Store, StudyRow
from service.views.cache import Views

log = logging.getLogger("paretoscope.launcher")

TICK_SECONDS = 1.0
IDLE_SECONDS = 10.0


class Launcher:
    """A thread that brings Ray in line with the log."""

    def __init__(self, store: Store, views: Views, jobs: Jobs | None, settings: Settings) -> None:
        self._store, self._views, self._jobs, self._settings = store, views, jobs, settings
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._to_stop: set[str] = set()
        self._looked_for_orphans = False
        self._problem: str | None = None
        self._thread = threading.Thread(target=self._run, name="launcher", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._wake.set()
        self._thread.join(timeout=10)

    def wake(self) -> None:
        self._wake.set()

    def cancel(self, study_id: str) -> None:
        """Log first, then end the processes: a crash in between is seen and finished by the next tick."""

        def not_ended(state: StudyState) -> str | None:
            return f"study {study_id} is {state.value} and cannot be cancelled" if state.is_ended() else None

        with self._views.read(study_id) as view:
            job = view.job
        uid = f"service:cancelled:{secrets.token_hex(4)}"  # a second cancel is refused, not taken for a resend
        self._store.append(study_id, [StudyCancelled(uid=uid)], not_ended)
        if job is not None:
            self._to_stop.add(job)
        self.wake()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wake.clear()
            self._wake.wait(TICK_SECONDS if self.step() else IDLE_SECONDS)

    def step(self) -> bool:
        """A tick whose errors are told in the log, the same one once; true while anything is or may be under way."""
        try:
            busy = self.tick()
            self._problem = None
            return busy
        except Unavailable as error:
            if self._problem != error.message:
                log.warning("studies wait: %s", error.message)
            self._problem = error.message
        except Exception:
            log.exception("the launcher met an unexpected error and goes on")
        return True

    def _find_orphans(self, jobs: Jobs) -> None:
        """After a restart: a study cancelled just before the service died may still have a job on Ray."""
        known = {row.id for state in StudyState if state.is_ended() for row in self._store.in_state(state)}
        self._to_stop |= {job for job in jobs.live() if job.partition("-")[0] in known}

    def tick(self) -> bool:
        """One round; returns whether anything is under way."""
        jobs = self._jobs
        if jobs is None:
            return False
        if not self._looked_for_orphans:
            self._find_orphans(jobs)
            self._looked_for_orphans = True
        for job in sorted(self._to_stop):
            self._end_job(jobs, job)
        running = self._store.in_state(StudyState.RUNNING)
        for row in running:
            with suppress(NotFound):  # deleted in the meantime
                self._watch(jobs, row)
        free = self._settings.studies_at_once - len(self._store.in_state(StudyState.RUNNING))
        queued = self._store.in_state(StudyState.QUEUED)
        for row in queued[: max(0, free)]:
            if not jobs.alive():
                raise Unavailable(f"Ray at {jobs.url} does not answer, or refuses our token")
            with suppress(NotFound):
                self._submit(jobs, row, reason=None)
        return bool(running or queued or self._to_stop)

    def _end_job(self, jobs: Jobs, job: str) -> None:
        status = jobs.status(job)
        if status is None or status.is_ended():
            self._to_stop.discard(job)
        else:
            jobs.stop(job)

    def _watch(self, jobs: Jobs, row: StudyRow) -> None:
        """A running study whose driver is gone is started again, or failed after its last attempt."""
        with self._views.read(row.id) as view:
            job, fruitless = view.job or row.id, view.fruitless
        status = jobs.status(job)
        if status is not None and not status.is_ended():
            return
        # The driver's last reports may still be on their way in: look at the log once more.
        if self._store.study(row.id).state is not StudyState.RUNNING:
            return
        why = _end(status) if status else "Ray does not know its job"
        if fruitless >= self._settings.driver_attempts:
            reason = f"{why}; gave up after {fruitless} attempts that finished no trial"
            self._append(row.id, StudyFailed(uid=f"service:failed:{job}", reason=reason[:REASON_LENGTH]))
            log.error("study %s failed: %s", row.id, reason)
        else:
            log.warning("study %s is started again: %s", row.id, why)
            self._submit(jobs, row, reason=f"started again: {why}"[:REASON_LENGTH])

    def _submit(self, jobs: Jobs, row: StudyRow, reason: str | None) -> None:
        with self._views.read(row.id) as view:
            attempt = view.attempt + 1
        job = row.id if attempt == 1 else f"{row.id}-{attempt}"
        started = StudyStarted(uid=f"service:started:{attempt}", job=job, attempt=attempt, reason=reason)
        if not self._append(row.id, started):
            return
        env = {
            "PARETOSCOPE_URL": self._settings.own_url,
            "PARETOSCOPE_JOB": job,
            "PARETOSCOPE_DATA": str(self._settings.data_folder),
        }
        if self._settings.token:
            env["PARETOSCOPE_TOKEN"] = self._settings.token
        try:
            jobs.submit(job, f"python -m workers.run_study {row.id}", env)
        except Conflict:
            log.info("Ray has job %s already", job)

    def _append(self, study_id: str, event: Event) -> bool:
        """False when the study was cancelled or deleted in the meantime."""
        try:
            return bool(self._store.append(study_id, [event]).accepted)
        except (Conflict, NotFound):
            return False


def _end(status: JobStatus) -> str:
    said = f": {status.message}" if status.message else ", and Ray does not say why"
    return f"its driver ended ({status.status.lower()}){said}"
