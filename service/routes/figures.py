"""Figures as Plotly JSON."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from service.figures import described, named
from service.figures.figure import Asked
from service.routes.dependencies import PartsOf
from service.routes.overlays import Studies, read_studies

router = APIRouter(tags=["figures"])

Chosen = Annotated[list[str] | None, Query(max_length=64)]


@router.get("/figures")
def list_figures() -> dict[str, Any]:
    return {"figures": described()}


@router.get("/studies/{study_id}/figures/{name}")
def figure(
    study_id: str,
    name: str,
    parts: PartsOf,
    x: str | None = None,
    y: str | None = None,
    z: str | None = None,
    trial: Chosen = None,
    arm: Chosen = None,
    studies: Studies = None,
) -> dict[str, Any]:
    """A figure of one study, or of several laid over each other; its controls say what x, y, z, trial and arm choose."""
    found = named(name)
    with read_studies(parts, study_id, studies) as view:
        return found.build(Asked(view, x, y, z, tuple(trial or ()), tuple(arm or ()), parts.artifacts))
