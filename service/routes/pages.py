"""The dashboard: a static page, and plotly.js from the installed plotly package."""

from __future__ import annotations

import gzip
import importlib.util
from functools import cache
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response

from service.contract.errors import NotFound

router = APIRouter(include_in_schema=False)

DASHBOARD = Path(__file__).parent.parent.parent / "frontends" / "dashboard"
KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}


@cache
def _plotly() -> bytes:
    """Compressed once; found without importing plotly."""
    spec = importlib.util.find_spec("plotly")
    if spec is None or spec.origin is None:
        raise NotFound("the plotly package is not installed")
    script = Path(spec.origin).parent / "package_data" / "plotly.min.js"
    return gzip.compress(script.read_bytes(), compresslevel=6)


@router.get("/")
@router.get("/new")
@router.get("/compare")
@router.get("/studies/{study_id}")
def page(study_id: str | None = None) -> FileResponse:
    return FileResponse(DASHBOARD / "index.html", headers={"Cache-Control": "no-cache"})


@router.get("/assets/plotly.min.js")
def plotly(request: Request) -> Response:
    body = _plotly()
    headers = {"Cache-Control": "public, max-age=86400", "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(body, media_type="text/javascript", headers={**headers, "Content-Encoding": "gzip"})
    return Response(gzip.decompress(body), media_type="text/javascript", headers=headers)


@router.get("/assets/{name}")
def asset(name: str) -> FileResponse:
    path = DASHBOARD / name
    if path.suffix not in KINDS or path.parent != DASHBOARD or not path.is_file():
        raise NotFound(f"there is no asset {name!r}")
    return FileResponse(path, media_type=KINDS[path.suffix], headers={"Cache-Control": "no-cache"})
