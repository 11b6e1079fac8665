"""What a study may name, and the presets of `configs/`."""

from __future__ import annotations

from functools import cache
from typing import Any

from fastapi import APIRouter

from service.contract import catalog as contract
from service.figures import described
from service.presets import Preset, presets

router = APIRouter(tags=["catalog"])


@cache
def _catalog() -> dict[str, Any]:
    return contract.catalog(described())


@router.get("/catalog")
def catalog() -> dict[str, Any]:
    """Every data set, model, problem, weighting and search with its parameters."""
    return _catalog()


@router.get("/presets")
def list_presets() -> dict[str, list[Preset]]:
    """The studies in `configs/`: name, what it asks, the YAML text, and the study itself."""
    return {"presets": presets()}
