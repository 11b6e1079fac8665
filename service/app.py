"""The FastAPI app: routers, middleware, and what starts and ends with it. Imports neither torch nor ray."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fastapi import Depends, FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware

from paretoscope import __version__
from service.contract.wire.errors import (
    Forbidden,
    NoSpace,
    OtherVersion,
    ParetoscopeError,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from service.launching.beside import wait_for_ray
from service.launching.ray_jobs import RayJobs
from service.routes import (
    artifacts,
    catalog,
    code,
    cohorts,
    curves,
    elsewhere,
    events,
    exports,
    figures,
    health,
    notes,
    pages,
    picking,
    prometheus,
    session,
    studies,
    tokens,
    trials,
)
from service.routes.dependencies import Parts
from service.settings import Settings
from service.store.incoming import sweep
from service.web.auth import authorize
from service.web.errors import add_error_handlers
from service.web.gate import Gate
from service.web.gauges import Counting
from service.web.lingering import Lingering
from service.web.openapi import Service, refuses, route_name

WARM_STUDIES = 4
LISTED_FIRST = 50  # what a page shows before anyone asks for more
LISTED_SECONDS = 5.0  # that a start may take longer for it: only the first one after an upgrade or a restore needs any


def _warm(parts: Parts, listed: threading.Event, stopping: threading.Event) -> None:
    """Before anyone asks: what a list shows first, the newest studies, and the other lists. The store may be away."""
    with suppress(ParetoscopeError):
        try:
            for row in parts.store.list_studies(None, LISTED_FIRST, None):
                if not stopping.is_set():
                    parts.summaries.of([row.id])
        finally:
            listed.set()
        wait_for_ray(parts.settings, stopping)
        parts.views.warm(WARM_STUDIES, stopping)
        parts.summaries.make_all(stopping)


def create_app(settings: Settings) -> FastAPI:
    jobs = RayJobs(settings.ray_url, settings.ray_token) if settings.ray_url else None

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        parts = Parts(settings, jobs)
        parts.wake.bind()
        app.state.parts = parts
        parts.launcher.start()
        stopping, listed = threading.Event(), threading.Event()
        begun = time.time()

        def prepare() -> None:
            _warm(parts, listed, stopping)
            for folder in ("artifacts", "states", "code"):
                sweep(settings.home / folder, begun)

        warming = threading.Thread(target=prepare, name="warming", daemon=True)
        warming.start()
        await run_in_threadpool(listed.wait, LISTED_SECONDS)
        try:
            yield
        finally:
            stopping.set()
            parts.wake.close()
            parts.launcher.stop()
            warming.join(timeout=2)
            parts.store.close()

    app = Service(title="Paretoscope", version=__version__, lifespan=lifespan, generate_unique_id_function=route_name)
    app.add_middleware(GZipMiddleware, minimum_size=2000, compresslevel=4)
    app.add_middleware(Counting)
    app.add_middleware(Lingering)
    app.add_middleware(Gate)  # the last one added is the first to be asked
    add_error_handlers(app)
    refusals = refuses(Unauthorized, Forbidden, OtherVersion, TooManyRequests, Unavailable, NoSpace)
    nouns = (
        studies,
        trials,
        curves,
        picking,
        notes,
        artifacts,
        cohorts,
        events,
        elsewhere,
        figures,
        exports,
        catalog,
        code,
        session,
    )
    # First: a page asks for fifty files, and each would be held against all of the API.
    app.include_router(pages.router)
    for noun in (*nouns, tokens):
        app.include_router(noun.router, prefix="/api", dependencies=[Depends(authorize)], responses=refusals)
    app.include_router(prometheus.router, dependencies=[Depends(authorize)], responses=refusals)
    app.include_router(health.router)
    return app
