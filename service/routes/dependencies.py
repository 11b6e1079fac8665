"""What routes are given: the parts the app was built from."""

from __future__ import annotations

import hmac
from typing import Annotated, cast

from fastapi import Depends, Request

from service.artifacts import Artifacts
from service.contract.errors import Unauthorized
from service.estimates import Estimates
from service.launcher import Launcher
from service.ray_jobs import RayJobs
from service.settings import Settings
from service.store.database import Store
from service.store.views import Views
from service.streams import Wake


class Parts:
    """The running service's parts, made once in `service.app`."""

    def __init__(self, settings: Settings, jobs: RayJobs | None) -> None:
        self.settings = settings
        self.jobs = jobs
        self.store = Store(settings.home)
        self.views = Views(self.store)
        self.artifacts = Artifacts(settings.home / "artifacts")
        self.estimates = Estimates(self.store, self.views)
        self.wake = Wake()
        self.launcher = Launcher(self.store, self.views, jobs, settings)
        self.store.listeners.append(self.wake.tell)


def _parts(request: Request) -> Parts:
    return cast(Parts, request.app.state.parts)


PartsOf = Annotated[Parts, Depends(_parts)]


def authorize(request: Request, parts: PartsOf) -> None:
    """A bearer token, or the cookie the page sets (EventSource cannot send headers)."""
    wanted = parts.settings.token
    if wanted is None:
        return
    given = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
    given = given or request.cookies.get("paretoscope_token", "")
    if not hmac.compare_digest(given.encode(), wanted.encode()):
        raise Unauthorized("this service needs its token: 'Authorization: Bearer …' (PARETOSCOPE_TOKEN)")
