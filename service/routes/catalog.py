"""What a study may name, and the presets of `configs/`."""

from __future__ import annotations

from functools import cache

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import TypeAdapter

from service.answers.presets import presets
from service.contract.catalog import Catalog
from service.contract.catalog import catalog as whole_catalog
from service.contract.wire.answers.presets import PresetList
from service.figures import described
from service.web.assets import Asset, answer
from service.web.openapi import Route

router = APIRouter(tags=["catalog"], route_class=Route)


@cache
def _catalog() -> Asset:
    """It never changes while the service runs, so it is written and compressed once."""
    return Asset.of(TypeAdapter(Catalog).dump_json(whole_catalog(described())), "application/json")


@router.get("/catalog", response_model=Catalog)
def catalog(request: Request) -> Response:
    """Every data set, model, problem, weighting and search with its parameters, and the words a page needs."""
    return answer(request, _catalog())


@router.get("/presets")
def list_presets() -> PresetList:
    """The studies in `configs/`: name, what it asks, the YAML text, and the study itself."""
    return PresetList(presets=presets())
