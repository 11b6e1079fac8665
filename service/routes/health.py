"""Alive, and able to run a study."""

from __future__ import annotations

from fastapi import APIRouter

from service.contract.wire.answers.health import Alive, Ready
from service.contract.wire.errors import ErrorAnswer, Unavailable
from service.routes.dependencies import PartsOf
from service.web.openapi import Route
from service.web.scopes import OPEN, needs

router = APIRouter(tags=["health"], route_class=Route)


@router.get("/healthz", openapi_extra=needs(OPEN))
def healthz() -> Alive:
    """The process answers."""
    return Alive(status="ok")


# The schema has the shape of errors from here: every other route only points to it.
@router.get(
    "/readyz", openapi_extra=needs(OPEN), responses={503: {"description": Unavailable.__doc__, "model": ErrorAnswer}}
)
def readyz(parts: PartsOf) -> Ready:
    """The database can be read and Ray takes jobs; 503 says which does not."""
    parts.store.check()
    if parts.jobs is None:
        raise Unavailable("no Ray is configured: set PARETOSCOPE_RAY_URL, or start with 'paretoscope up'")
    if not parts.jobs.alive():
        raise Unavailable(f"Ray at {parts.jobs.url} does not answer, or refuses our token")
    return Ready(status="ready", instance=parts.instance)
