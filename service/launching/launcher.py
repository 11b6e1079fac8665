"""Hands studies to Ray: a queue, a limit of studies at once, cancelling, and recovery of drivers that died.

One rule does most of it: compare what the log says should run with what Ray says does run.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain, islice

from service.contract.study.data_paths import OPENED_BY
from service.contract.study.extension import Extension
from service.contract.wire.errors import Conflict, Detail, NoSpace, NotFound, Unavailable, Unreadable
from service.contract.wire.events import (
    REASON_LENGTH,
    Event,
    StudyCancelled,
    StudyEvent,
    StudyFailed,
    StudyPaused,
    StudyReconnected,
    StudyResumed,
    StudyStarted,
    StudyState,
    TrialState,
)
from service.contract.wire.log_lines import LOG_FORMAT, messages
from service.contract.wire.transitions import STUDY_MOVES
from service.launching.again import extension, retrial
from service.launching.beside import wait_for_ray
from service.launching.going_on import where_it_goes_on
from service.launching.handover import Handover
from service.launching.jobs import Jobs, JobStatus
from service.launching.leases import Leases
from service.launching.sight import Sight
from service.settings import Settings
from service.store.protocol import Store, StudyRow
from service.store.states import States
from service.views.cache import Views

log = logging.getLogger("paretoscope.launcher")

TICK_SECONDS = 1.0
IDLE_SECONDS = 10.0
MOST_OF_REASON = REASON_LENGTH - 200  # the rest says where it goes on


class Launcher:
    """A thread that brings Ray in line with the log."""

    def __init__(
        self,
        store: Store,
        views: Views,
        states: States,
        jobs: Jobs | None,
        settings: Settings,
        handover: Handover,
        leases: Leases,
    ) -> None:
        self._leases = leases
        self._store, self._views, self._states, self._jobs, self._settings = store, views, states, jobs, settings
        self._handover = handover
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self.leaving = threading.Event()  # Ray is about to end with the service: nothing is started any more
        self._to_stop: set[str] = set()
        self._told: set[str] = set()  # studies that cannot be read, and the log says so
        self._seen: set[str] = set()  # jobs that were alive while this launcher was
        self._untaken: set[str] = set()  # jobs that the log has and Ray could not take
        self._refused: dict[str, str] = {}  # studies whose driver has another version, and what it was told
        self._looked_for_orphans = False
        self._pausing: frozenset[str] = frozenset()
        self._problem: str | None = None
        self._sight = Sight(self._append)
        self._thread = threading.Thread(target=self._run, name="launcher", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._wake.set()
        self._thread.join(timeout=10)

    def wake(self) -> None:
        self._wake.set()

    def look_for_orphans(self) -> None:
        """Another service ended a study, whose job this one may have to end."""
        self._looked_for_orphans = False
        self.wake()

    def trains(self, job: str) -> bool:
        """Whether a driver has trials in training, whose states are worth waiting for."""
        try:
            with self._views.read(job.partition("-")[0]) as view:
                return any(trial.state is TrialState.RUNNING for trial in view.all_trials.values())
        except (NotFound, Unreadable):
            return False

    def driver_was_refused(self, study_id: str, words: str) -> None:
        """Its driver ends now, and this is why."""
        self._refused[study_id] = words

    def cancel(self, study_id: str) -> None:
        """Log first, then end the processes: a crash in between is seen and finished by the next tick."""
        job: str | None = None
        try:
            with self._views.read(study_id) as view:
                job = view.job
        except Unreadable:  # its job is found by looking at Ray
            self._looked_for_orphans = False
        self._wish(study_id, StudyCancelled(uid=_own_uid("cancelled")), "cancelled")
        if job is not None:
            self._to_stop.add(job)
        self.wake()

    def pause(self, study_id: str) -> None:
        """Its cohorts hear of it themselves, save their states and leave; then its driver does."""
        ran = self._store.study(study_id).state is StudyState.RUNNING
        self._wish(study_id, StudyPaused(uid=_own_uid("paused")), "paused")
        if ran and self._jobs is not None:
            self._pausing |= {study_id}
        self.wake()

    def is_leaving(self, study_id: str) -> bool:
        """Whether a paused study still has a driver, as far as is known."""
        return study_id in self._pausing

    def resume(self, study_id: str) -> None:
        self._wish(study_id, StudyResumed(uid=_own_uid("resumed")), "resumed")
        self.wake()

    def retry(self, study_id: str) -> None:
        """Failed trials once more, each at most so often, and each time after a longer wait."""
        with self._views.read(study_id) as view:
            event = retrial(view, _own_uid("retried"))
        self._check_left(study_id)
        self._wish(study_id, event, "retried")
        self._states.drop_with(study_id, event.trials)
        self.wake()

    def extend(self, study_id: str, wish: Extension) -> None:
        with self._views.read(study_id) as view:
            event = extension(view, wish, _own_uid("extended"))
        self._check_left(study_id)
        self._wish(study_id, event, "extended")
        self._states.drop_with(study_id, event.anew or ())
        self.wake()

    def _check_left(self, study_id: str) -> None:
        """A driver that is leaving knows only the plan that it had."""
        with suppress(Unavailable):  # without Ray there is none
            if self._jobs is not None and self._leaves(self._jobs, study_id):
                message = f"study {study_id} is still pausing: trials save their state and leave"
                raise Conflict(message, [Detail(path="state", message=StudyState.PAUSED.value)])

    def _wish(self, study_id: str, event: Event, done: str) -> None:
        """What somebody wants of a study, where its state allows it."""

        def refused(state: StudyState) -> str | None:
            allowed = isinstance(event, StudyEvent) and state in STUDY_MOVES[type(event)]
            return None if allowed else f"study {study_id} is {state.value} and cannot be {done}"

        self._store.append(study_id, [event], refused)

    def _run(self) -> None:
        wait_for_ray(self._settings, self._stopping)
        while not self._stopping.is_set():
            self._wake.clear()
            self._wake.wait(TICK_SECONDS if self.step() else IDLE_SECONDS)

    def step(self) -> bool:
        """A tick whose errors are told in the log, the same one once; true while anything is or may be under way."""
        try:
            return self._tick_or_wait()
        except Exception:
            log.exception("the launcher met an unexpected error and goes on")
        return True

    def _tick_or_wait(self) -> bool:
        try:
            busy = self.tick()
            self._problem = None
            self._sight.regained()
            return busy
        except (Unavailable, NoSpace) as error:
            if self._problem != error.message:
                log.warning("studies wait: %s", error.message)
            self._problem = error.message
            self._look_for_ray(error.message)
        return True

    def _look_for_ray(self, why: str) -> None:
        if self._jobs is None or self._jobs.alive():  # it was something else
            self._sight.regained()
            return
        with suppress(Unavailable, NoSpace):  # the store is away as well
            self._sight.lost(self._readable(self._store.in_state(StudyState.RUNNING)), why)

    def _find_orphans(self, jobs: Jobs) -> None:
        """After a restart: a study cancelled just before the service died may still have a job on Ray."""
        known = {row.id for state in StudyState if state.is_ended() for row in self._store.in_state(state)}
        self._to_stop |= {job for job in jobs.live() if job.partition("-")[0] in known}

    def tick(self) -> bool:
        """One round; returns whether anything is under way."""
        jobs = self._jobs
        if jobs is None or self.leaving.is_set():
            return False
        if not self._store.leads():  # another service on the same database does it; should it die, this one will
            self._looked_for_orphans = False
            return True
        if not self._looked_for_orphans:
            self._find_orphans(jobs)
            self._looked_for_orphans = True
        for job in sorted(self._to_stop):
            self._end_job(jobs, job)
        running = self._store.in_state(StudyState.RUNNING)
        for gone in set(self._refused) - {row.id for row in running}:
            self._refused.pop(gone, None)
        resumed = []
        for row in self._readable(running):
            with suppress(NotFound, Unreadable):  # deleted in the meantime
                self._leases.take_back(row.id)
                resumed += [row] if self._watch(jobs, row) else []
        still = sum(1 for _ in self._readable(self._store.in_state(StudyState.RUNNING)))
        free = max(0, self._settings.studies_at_once - still + len(resumed))
        queued = self._store.in_state(StudyState.QUEUED)
        for row in islice(chain(resumed, self._readable(queued)), free):
            if not jobs.alive():
                raise Unavailable(f"Ray at {jobs.url} does not answer, or refuses our token")
            with suppress(NotFound, Unreadable):
                self._submit(jobs, row, self._why_again(row) if row in resumed else None, excused=row in resumed)
        self._handover.take_back(jobs.live)
        self._pausing = frozenset(study for study in self._pausing if self._leaves(jobs, study))
        return bool(running or queued or self._to_stop or self._pausing)

    def _leaves(self, jobs: Jobs, study_id: str) -> bool:
        """Whether a study is paused and its driver has not left yet."""
        with suppress(NotFound, Unreadable):
            with self._views.read(study_id) as view:
                job, state = view.job or study_id, view.state
            status = jobs.status(job) if state is StudyState.PAUSED else None
            return status is not None and not status.is_ended()
        return False

    def _why_again(self, row: StudyRow) -> str:
        with self._views.read(row.id) as view:
            return view.why_again

    def _readable(self, rows: Iterable[StudyRow]) -> Iterator[StudyRow]:
        """Without those that this version cannot read: they wait for one that can, and hold up nobody."""
        for row in rows:
            try:
                with self._views.read(row.id):
                    pass
                yield row
            except NotFound:
                continue
            except Unreadable as error:
                if row.id not in self._told:
                    log.warning("%s", error.message, extra={"study": row.id})
                self._told.add(row.id)

    def _end_job(self, jobs: Jobs, job: str) -> None:
        status = jobs.status(job)
        if status is None or status.is_ended():
            self._to_stop.discard(job)
        else:
            jobs.stop(job)

    def _watch(self, jobs: Jobs, row: StudyRow) -> bool:
        """A running study whose driver is gone is started again, or failed after its last attempt.

        True when it waits for a driver because somebody resumed it; the one it had may have to leave first.
        """
        with self._views.read(row.id) as view:
            job, fruitless, waiting = view.job or row.id, view.fruitless, view.waiting
            out_of_sight = view.out_of_sight
            early = view.not_before is not None and datetime.now(UTC) < view.not_before
        status = jobs.status(job)
        if status is not None and not status.is_ended():
            self._seen.add(job)
            if out_of_sight:
                self._append(row.id, StudyReconnected(uid=_own_uid("reconnected")))
            return False
        if waiting:
            return not early
        # The driver's last reports may still be on their way in: look at the log once more.
        if self._store.study(row.id).state is not StudyState.RUNNING:
            return False
        if status is None and job in self._untaken:
            self._hand_over(jobs, row.id, job, self._environment(row.id, job))
            return False
        refused = self._refused.pop(row.id, None)
        why = refused or (_end(status) if status else "Ray does not know its job")
        # Whoever forgot the job was started again, and so was whoever did not see it end: the study is not to blame.
        excused = status is None or job not in self._seen
        if fruitless >= self._settings.driver_attempts and not excused:
            reason = f"{why}; gave up after {fruitless} starts in a row that reported nothing new"
            self._append(row.id, StudyFailed(uid=f"service:failed:{job}", reason=reason[:REASON_LENGTH]))
        else:
            self._submit(jobs, row, f"started again: {why}", excused)
        return False

    def _submit(self, jobs: Jobs, row: StudyRow, reason: str | None, excused: bool = False) -> None:
        with self._views.read(row.id) as view:
            attempt = view.attempt + 1
            self._states.drop_older(row.id, view.anew_since)
            if reason is not None:
                reason = f"{reason[:MOST_OF_REASON]}; {where_it_goes_on(view, self._states.of(row.id))}"
        job = row.id if attempt == 1 else f"{row.id}-{attempt}"
        started = StudyStarted(
            uid=f"service:started:{attempt}", job=job, attempt=attempt, reason=reason, excused=excused or None
        )
        env = self._environment(row.id, job)  # before it is told: its token may not be written
        if self._append(row.id, started):
            self._seen.add(job)
            self._hand_over(jobs, row.id, job, env)

    def _environment(self, study_id: str, job: str) -> dict[str, str]:
        return {
            "PARETOSCOPE_URL": self._settings.own_url,
            "PARETOSCOPE_JOB": job,
            "PARETOSCOPE_DATA": str(self._settings.data_folder),
            "PARETOSCOPE_SAVE_SECONDS": str(self._settings.save_seconds),
            **({LOG_FORMAT: self._settings.log_format} if self._settings.log_format != "auto" else {}),
            "PARETOSCOPE_FINAL_STATES": self._settings.final_states,
            **self._settings.limits_of_code,
            **({OPENED_BY: self._settings.open_folders} if self._settings.open_folders else {}),
            **self._handover.environment(study_id, job),
        }

    def _hand_over(self, jobs: Jobs, study_id: str, job: str, env: dict[str, str]) -> None:
        """A Ray that is just starting takes none: the same job is handed over again at the next look."""
        self._untaken.add(job)
        try:
            jobs.submit(job, f"python -m workers.run_study {study_id}", env)
        except Conflict:
            log.info("Ray has job %s already", job, extra={"study": study_id, "job": job})
        self._untaken.discard(job)

    def _append(self, study_id: str, event: Event) -> bool:
        """False when the study was cancelled or deleted in the meantime."""
        try:
            return bool(self._store.append(study_id, [event]).accepted)
        except (Conflict, NotFound):
            return False


def _own_uid(what: str) -> str:
    """A second wish is refused or granted by itself, not taken for a resend."""
    return f"service:{what}:{secrets.token_hex(4)}"


def _end(status: JobStatus) -> str:
    said = f": {messages(status.message)}" if status.message else ", and Ray does not say why"
    return f"its driver ended ({status.status.lower()}){said}"
