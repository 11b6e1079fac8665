"""Figures as Plotly JSON."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query
from fastapi.responses import Response

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
) -> Response:
    """A figure of one study, or of several laid over each other; its controls say what the others choose."""
    found = named(name)
    with read_studies(parts, study_id, studies) as view:
        asked = Asked(view, x, y, z, tuple(trial or ()), tuple(arm or ()), parts.artifacts)
        # Ten thousand points as they are: what FastAPI would do to every number of them takes longer than the figure.
        body = view.memo(
            f"figure {name} {asked.revision}",
            lambda: orjson.dumps(found.drawn(asked), option=orjson.OPT_SERIALIZE_NUMPY),
        )
    return Response(body, media_type="application/json")
