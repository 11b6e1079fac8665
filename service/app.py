"""The FastAPI app: routers, one error shape, a limit on bodies. Imports neither torch nor ray."""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi_offline import FastAPIOffline
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware

from service.contract.errors import Detail, InvalidInput, ParetoscopeError, TooLarge
from service.contract.parsing import path_of
from service.contract.study import Study
from service.ray_jobs import RayJobs
from service.routes import artifacts, catalog, events, exports, figures, health, pages, studies, trials
from service.routes.dependencies import Parts, authorize
from service.settings import Settings

log = logging.getLogger("paretoscope.service")
WARM_STUDIES = 4
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


def error_answer(error: ParetoscopeError, status: int | None = None, code: str | None = None) -> JSONResponse:
    """The one error shape."""
    body = error.public() | ({"code": code} if code else {})
    return JSONResponse({"error": body}, status_code=status or error.status)


class BodyLimit:
    """Refuses bodies over the limit, by their announced or their real size."""

    def __init__(self, app: Any, settings: Settings) -> None:
        self._app, self._settings = app, settings

    def _limit(self, path: str) -> int:
        if path.endswith(("/reports", "/latent-map.json")):
            return self._settings.max_report_bytes
        is_artifact = "/trials/" in path and "/artifacts/" in path
        return self._settings.max_artifact_bytes if is_artifact else self._settings.max_study_bytes

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._limit(scope["path"])
        too_large = TooLarge(f"the body is over the limit of {limit:,} bytes")
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if announced.isdigit() and int(announced) > limit:
            await error_answer(too_large)(scope, receive, send)
            return
        seen = 0

        async def counted() -> MutableMapping[str, Any]:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                raise too_large
            return message

        await self._app(scope, counted, send)


def _add_error_handlers(app: FastAPI) -> None:
    @app.exception_handler(ParetoscopeError)
    async def ours(request: Request, error: ParetoscopeError) -> JSONResponse:
        return error_answer(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        details = [
            Detail(path=path_of(tuple(e["loc"][1:])), message=f"{e['msg']}, got {e.get('input')!r}"[:300])
            for e in error.errors()
        ]
        first = details[0]
        return error_answer(InvalidInput(f"{first.path}: {first.message}", details))

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "invalid_input")
        said = ParetoscopeError(f"{request.method} {request.url.path}: {error.detail}")
        answer = error_answer(said, error.status_code, code)
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> JSONResponse:
        said = ParetoscopeError("an unexpected error in the service; its log has the details")
        return error_answer(said, 500, "internal")


def _document_study(app: FastAPI) -> None:
    """Study bodies are read by hand (JSON or YAML, with lines), so their schema is put in by hand."""
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = plain()
            template = "#/components/schemas/{model}"
            study = Study.model_json_schema(by_alias=True, ref_template=template)
            parts = schema.setdefault("components", {}).setdefault("schemas", {})
            parts.update(study.pop("$defs", {}))
            parts["Study"] = study
        return app.openapi_schema or {}

    app.openapi = openapi  # type: ignore[method-assign]


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

    app = FastAPIOffline(title="Paretoscope", version="0.1.0", lifespan=lifespan, redoc_url=None)
    app.add_middleware(GZipMiddleware, minimum_size=2000, compresslevel=4)
    app.add_middleware(BodyLimit, settings=settings)
    _add_error_handlers(app)
    for noun in (studies, trials, artifacts, events, figures, exports, catalog):
        app.include_router(noun.router, prefix="/api", dependencies=[Depends(authorize)])
    app.include_router(health.router)
    app.include_router(pages.router)
    _document_study(app)
    return app
