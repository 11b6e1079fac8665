"""The FastAPI app: routers, middleware, and what starts and ends with it. Imports neither torch nor ray."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Depends, FastAPI
from starlette.middleware.gzip import GZipMiddleware

from paretoscope import __version__
from service.contract.wire.errors import Unauthorized, Unavailable
from service.launching.ray_jobs import RayJobs
from service.routes import artifacts, catalog, events, exports, figures, health, pages, studies, trials
from service.routes.dependencies import Parts
from service.settings import Settings
from service.web.auth import authorize
from service.web.errors import add_error_handlers
from service.web.openapi import Service, refuses, route_name

WARM_STUDIES = 4


def create_app(settings: Settings) -> FastAPI:
    jobs = RayJobs(settings.ray_url, settings.ray_token) if settings.ray_url else None

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        parts = Parts(settings, jobs)
        parts.wake.bind()
        app.state.parts = parts
        parts.launcher.start()
        stopping = threading.Event()
        warming = threading.Thread(target=parts.views.warm, args=(WARM_STUDIES, stopping), name="warming", daemon=True)
        warming.start()
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
    add_error_handlers(app)
    for noun in (studies, trials, artifacts, events, figures, exports, catalog):
        app.include_router(
            noun.router, prefix="/api", dependencies=[Depends(authorize)], responses=refuses(Unauthorized, Unavailable)
        )
    app.include_router(health.router)
    app.include_router(pages.router)
    return app
