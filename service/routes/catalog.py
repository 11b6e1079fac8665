"""What a study may name, and the presets of `configs/`."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, lru_cache

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import TypeAdapter

from service.answers.own_catalog import DescribedCode, own_problems
from service.answers.presets import presets
from service.contract.catalog import Catalog
from service.contract.catalog import catalog as whole_catalog
from service.contract.wire.answers.presets import PresetList
from service.figures import described
from service.routes.dependencies import CallerOf, PartsOf
from service.store.code import CodeStore, Stamp
from service.web.assets import Asset, answer
from service.web.openapi import Route

router = APIRouter(tags=["catalog"], route_class=Route)


@cache
def _built_in() -> Catalog:
    return whole_catalog(described())


@cache
def _catalog() -> Asset:
    """It never changes while the service runs, so it is written and compressed once."""
    return Asset.of(TypeAdapter(Catalog).dump_json(_built_in()), "application/json")


@lru_cache(maxsize=2)
def _with_own(code: CodeStore, stamps: tuple[Stamp, ...]) -> Asset:
    """With the problems of code that was sent: written anew when something was said of it, or some was deleted."""
    kept = code.kept()
    read = [(stamp.hash, kept[stamp.hash]) for stamp in stamps if stamp.hash in kept]
    own = own_problems(DescribedCode(code_hash, reading.entry, reading.problems) for code_hash, reading in read)
    whole = replace(_built_in(), problems=[*_built_in().problems, *own])
    return Asset.of(TypeAdapter(Catalog).dump_json(whole), "application/json")


@router.get("/catalog", response_model=Catalog)
def catalog(request: Request, parts: PartsOf, caller: CallerOf) -> Response:
    """Every data set, model, problem, weighting and search with its parameters, and the words a page needs.

    With the scope `code` also the problems of code that was sent and described, newest first, with its hashes.
    """
    return answer(request, _with_own(parts.code, parts.code.stamps()) if "code" in caller.scopes else _catalog())


@router.get("/presets")
def list_presets() -> PresetList:
    """The studies in `configs/`: name, what it asks, the YAML text, and the study itself."""
    return PresetList(presets=presets())
