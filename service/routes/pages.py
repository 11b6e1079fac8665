"""The dashboard: a static page, and plotly.js from the installed plotly package."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import TypeAdapter
from starlette.concurrency import run_in_threadpool

from service.contract.vocabulary import Vocabulary, vocabulary
from service.web.assets import Asset, answer, below, file_answer, plotly_script

router = APIRouter(include_in_schema=False)

DASHBOARD = Path(__file__).parent.parent.parent / "frontends" / "dashboard"
INDEX = DASHBOARD / "index.html"
VOCABULARY = '<script type="application/json" id="vocabulary"></script>'
A_DAY = "public, max-age=86400"


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
    return answer(request, _index(INDEX.stat().st_mtime_ns))


@router.get("/assets/plotly.min.js")
async def plotly(request: Request) -> Response:
    return await run_in_threadpool(file_answer, request, plotly_script(), A_DAY)  # the first time it is compressed


@router.get("/assets/{name:path}")
async def asset(request: Request, name: str) -> Response:
    return file_answer(request, below(DASHBOARD, name))
