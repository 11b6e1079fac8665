"""Trials that are trained elsewhere, as a driver sees them: it suggests and waits, the service hands them out."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from service.contract.study.expansion import searched_keys
from service.contract.wire.answers.read_by_drivers import KnownTrial
from service.contract.wire.errors import Unavailable
from service.contract.wire.events import TrialState
from workers.planning.ending import Ended, ended_early
from workers.planning.past import reached_by
from workers.planning.supply import Search, searches_of
from workers.planning.work import Outcome, Work, all_over, out_of_time
from workers.sending.reporter import Reporter
from workers.sending.study_client import StudyClient

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.5


class Waiting:
    """Until every one of the trials is over, the time is, or the study is paused or has ended.

    All it knows is in the log: whoever is started after it goes on where it was.
    """

    def __init__(
        self,
        work: Work,
        client: StudyClient,
        reporter: Reporter,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`work` has those trials alone."""
        self.stop = threading.Event()
        self._work, self._client, self._reporter = work, client, reporter
        self._clock = clock
        self._open = {trial.id for trial in work.trials}
        self._keys = searched_keys(work.study)
        self._searches = searches_of(work.study, work.past, elsewhere=True)
        self._search_of: dict[str, Search] = {}
        self._seen = -1  # the last event that was looked at

    def run(self) -> Outcome:
        log.info("%d trials are trained elsewhere", len(self._open))
        self._suggest()
        while left := self._left():
            if self.stop.wait(LOOK_SECONDS) or self._reporter.ended.is_set():
                return Outcome()
            if self._work.deadline is not None and self._clock() >= self._work.deadline:
                return out_of_time(self._work.study, len(left), self._ended())
            try:
                study = self._client.state(self.stop)
            except Unavailable:  # told to stop while the service was away
                return Outcome()
            if study.state.is_ended():
                self._reporter.ended.set()
                return Outcome()
            if study.last_seq != self._seen:
                self._look()
                self._seen = study.last_seq
            self._suggest()
            if study.leave and self._left():  # the last may end while a pause is asked for
                return Outcome(paused=True)
        return all_over(self._ended())

    def _ended(self) -> Ended:
        return ended_early(self._searches, self._open)

    def _left(self) -> set[str]:
        """Trials that are needed and have not ended."""
        return self._open.difference(self._ended().spared)

    def _suggest(self) -> None:
        """What was suggested before is said again, and changes nothing."""
        for search in self._searches:
            for trial in search.ask():
                self._search_of[trial.id] = search
                values = {key: trial.config[key] for key in self._keys[trial.arm]}
                self._reporter.trial_suggested(trial.id, values)

    def _look(self) -> None:
        for arm in sorted(self._work.study.arms_elsewhere):
            for trial in self._client.trials(arm):
                if trial.id in self._open and trial.state.is_over():
                    self._end(trial)

    def _end(self, trial: KnownTrial) -> None:
        self._open.remove(trial.id)
        finished = trial.state is TrialState.FINISHED
        self._reporter.ended_elsewhere(trial.id, None if finished else trial.reason or "failed")
        if search := self._search_of.pop(trial.id, None):
            search.tell(trial.id, *reached_by(self._work.study, trial.metrics if finished else None))
