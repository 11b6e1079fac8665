"""What routes are given: the parts the app was built from, and the ids in its addresses."""

from __future__ import annotations

from typing import Annotated, Any, cast

from fastapi import Depends, Path, Query, Request

from service.answers.estimates import Estimates
from service.answers.studies import study_summary, unreadable_summary
from service.contract.wire.answers.studies import StudySummary
from service.contract.wire.events import StudyState
from service.launching.describing import Describing
from service.launching.handover import Handover
from service.launching.jobs import Jobs
from service.launching.launcher import Launcher
from service.launching.leases import Leases
from service.settings import Settings
from service.store.artifacts import Artifacts
from service.store.code import CodeStore
from service.store.notices import DELETED
from service.store.protocol import Store
from service.store.sql import SqlStore
from service.store.states import States
from service.store.tokens import Tokens
from service.views.cache import Views
from service.views.kept import KeptSummaries
from service.views.maps import Maps
from service.views.summaries import Summaries
from service.web.audit import Audit
from service.web.auth import caller_of
from service.web.disk_space import Room
from service.web.doorkeeper import Caller, Doorkeeper
from service.web.gauges import Gauges
from service.web.rates import Rate
from service.web.streams import Wake


class Parts:
    """The running service's parts, made once in `service.app`."""

    def __init__(self, settings: Settings, jobs: Jobs | None) -> None:
        self.settings = settings
        self.gauges = Gauges()
        self.jobs = jobs
        sql = SqlStore(settings.home, settings.database_url)
        self.store: Store = sql
        self.tokens = Tokens(sql.database)
        self.instance = self.tokens.instance()
        self.doorkeeper = Doorkeeper(settings, self.tokens)
        self.submissions = Rate(settings.submissions_per_minute)
        self.code_sent = Rate(settings.submissions_per_minute)
        self.audit = Audit(settings.home / "audit.log")
        self.views = Views(self.store)
        self.summaries = Summaries(self.store, self.views, study_summary, unreadable_summary, kept=self._kept(settings))
        self.artifacts = Artifacts(settings.home / "artifacts")
        self.maps = Maps(self.artifacts)
        self.states = States(settings.home / "states")
        self.code = CodeStore(settings.home / "code")
        self.room = Room(settings, self.views, self.tokens, self.artifacts, self.states, self.code)
        self.estimates = Estimates(self.views)
        self.wake = Wake()
        handover = Handover(self.tokens, settings)
        self.leases = Leases(self.store, self.views)
        self.launcher = Launcher(self.store, self.views, self.states, jobs, settings, handover, self.leases)
        self.describing = Describing(self.code, jobs, settings, handover, self.tokens)
        self.store.listeners.append(self.wake.tell)
        self.store.from_others.append(self._hear)

    @staticmethod
    def _kept(settings: Settings) -> KeptSummaries[StudySummary]:
        file = settings.home / "summaries.db"
        return KeptSummaries(file, StudySummary, lambda summary: summary.state.is_ended())

    def _hear(self, study_id: str, state: str) -> None:
        """What another service on the same database did to a study."""
        if state == DELETED:
            self.views.forget(study_id)
            self.summaries.forget(study_id)
        if state == StudyState.CANCELLED:
            self.launcher.look_for_orphans()
        elif state:
            self.launcher.wake()


def _parts(request: Request) -> Parts:
    return cast(Parts, request.app.state.parts)


PartsOf = Annotated[Parts, Depends(_parts)]
CallerOf = Annotated[Caller, Depends(caller_of)]

StudyId = Annotated[str, Path(description="a study's id")]
TrialId = Annotated[str, Path(description="a trial's id, as in the list of trials")]


def asks(description: str) -> Any:
    """A query parameter that needs nothing but a description."""
    return Query(description=description)
