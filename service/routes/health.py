"""Alive, and able to run a study."""

from __future__ import annotations

from fastapi import APIRouter

from service.contract.errors import Unavailable
from service.routes.dependencies import PartsOf

router = APIRouter(tags=["health"])


@router.get("/healthz")
def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@router.get("/readyz")
def readyz(parts: PartsOf) -> dict[str, str]:
    """The database can be read and Ray takes jobs; 503 says which does not."""
    parts.store.check()
    if parts.jobs is None:
        raise Unavailable("no Ray is configured: set PARETOSCOPE_RAY_URL, or start with 'paretoscope up'")
    if not parts.jobs.alive():
        raise Unavailable(f"Ray at {parts.jobs.url} does not answer, or refuses our token")
    return {"status": "ready"}
