"""The dashboard: a static page, and plotly.js from the installed plotly package."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from service.assets import KINDS, answer, plotly_script
from service.contract.errors import NotFound

router = APIRouter(include_in_schema=False)

DASHBOARD = Path(__file__).parent.parent.parent / "frontends" / "dashboard"
A_DAY = "public, max-age=86400"


@router.get("/")
@router.get("/new")
@router.get("/compare")
@router.get("/studies/{study_id}")
async def page(request: Request, study_id: str | None = None) -> Response:
    return answer(request, DASHBOARD / "index.html")


@router.get("/assets/plotly.min.js")
async def plotly(request: Request) -> Response:
    return await run_in_threadpool(answer, request, plotly_script(), A_DAY)  # the first time it is compressed


@router.get("/assets/{name}")
async def asset(request: Request, name: str) -> Response:
    path = DASHBOARD / name
    if path.suffix not in KINDS or path.parent != DASHBOARD or not path.is_file():
        raise NotFound(f"there is no asset {name!r}")
    return answer(request, path)
