"""The dashboard: a static page, and plotly.js from the installed plotly package."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import TypeAdapter
from starlette.concurrency import run_in_threadpool

from service.contract.vocabulary import Vocabulary, vocabulary
from service.contract.wire.errors import Unauthorized
from service.web.assets import Asset, answer, below, file_answer, joined_answer, plotly_script
from service.web.auth import address_of, remember
from service.web.policies import OF_PAGES

router = APIRouter(include_in_schema=False)

DASHBOARD = Path(__file__).parent.parent.parent / "frontends" / "dashboard"
INDEX = DASHBOARD / "index.html"
VOCABULARY = '<script type="application/json" id="vocabulary"></script>'
STYLES = tuple(DASHBOARD / "style" / f"{name}.css" for name in ("base", "study", "list", "new", "compare"))
A_DAY = "public, max-age=86400"
TOKEN = "token"  # in the link that `paretoscope up` prints


@lru_cache(maxsize=1)
def _index(changed: int) -> Asset:
    """The page with the catalog's vocabulary in it: scripts have it at once, without another request."""
    words = TypeAdapter(Vocabulary).dump_json(vocabulary()).decode()
    words = words.replace("<", "\\u003c")  # cannot end its script element
    filled = INDEX.read_text(encoding="utf-8").replace(VOCABULARY, VOCABULARY.replace("></", f">{words}</"))
    return Asset.of(filled.encode(), "text/html")


@router.get("/")
@router.get("/new")
@router.get("/compare")
@router.get("/studies/{study_id}")
async def page(request: Request, study_id: str | None = None) -> Response:
    if TOKEN in request.query_params:
        return await _signed_in(request, request.query_params[TOKEN])
    return answer(request, _index(INDEX.stat().st_mtime_ns), policy=OF_PAGES)


async def _signed_in(request: Request, token: str) -> Response:
    """From the link that `paretoscope up` prints to the same page without the token, which is a cookie from then on."""
    rest = urlencode([(key, value) for key, value in request.query_params.multi_items() if key != TOKEN])
    place = f"{quote(request.url.path)}?{rest}" if rest else quote(request.url.path)
    away = RedirectResponse(f"/{place.lstrip('/')}", 303, headers={"Cache-Control": "no-store"})
    parts = request.app.state.parts
    try:
        await run_in_threadpool(parts.doorkeeper.admit, token, address_of(request))
    except Unauthorized:  # forgotten as well: the page then asks for it
        return away
    return away if parts.settings.token is None else remember(request, away, token)


@router.get("/assets/plotly.min.js")
async def plotly(request: Request) -> Response:
    return await run_in_threadpool(file_answer, request, plotly_script(), A_DAY)  # the first time it is compressed


@router.get("/assets/style.css")
async def style(request: Request) -> Response:
    return joined_answer(request, STYLES)


@router.get("/assets/{name:path}")
async def asset(request: Request, name: str) -> Response:
    return file_answer(request, below(DASHBOARD, name))
