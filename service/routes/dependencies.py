"""What routes are given: the parts the app was built from, and the ids in its addresses."""

from __future__ import annotations

from typing import Annotated, Any, cast

from fastapi import Depends, Path, Query, Request

from service.answers.estimates import Estimates
from service.answers.studies import study_summary
from service.launching.jobs import Jobs
from service.launching.launcher import Launcher
from service.settings import Settings
from service.store.artifacts import Artifacts
from service.store.protocol import Store
from service.store.sql import SqlStore
from service.views.cache import Views
from service.views.summaries import Summaries
from service.web.streams import Wake


class Parts:
    """The running service's parts, made once in `service.app`."""

    def __init__(self, settings: Settings, jobs: Jobs | None) -> None:
        self.settings = settings
        self.jobs = jobs
        self.store: Store = SqlStore(settings.home)
        self.views = Views(self.store)
        self.summaries = Summaries(self.store, self.views, study_summary)
        self.artifacts = Artifacts(settings.home / "artifacts")
        self.estimates = Estimates(self.store, self.views)
        self.wake = Wake()
        self.launcher = Launcher(self.store, self.views, jobs, settings)
        self.store.listeners.append(self.wake.tell)


def _parts(request: Request) -> Parts:
    return cast(Parts, request.app.state.parts)


PartsOf = Annotated[Parts, Depends(_parts)]

StudyId = Annotated[str, Path(description="a study's id")]
TrialId = Annotated[str, Path(description="a trial's id, as in the list of trials")]


def asks(description: str) -> Any:
    """A query parameter that needs nothing but a description."""
    return Query(description=description)
