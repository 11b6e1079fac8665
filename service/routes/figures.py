"""Figures as Plotly JSON."""

from __future__ import annotations

from typing import Annotated

import orjson
from fastapi import APIRouter, Path, Query
from fastapi.responses import Response

from service.contract.wire.answers.figures import FigureAnswer, FigureList
from service.figures import described, named
from service.figures.figure import Asked
from service.routes.dependencies import PartsOf, StudyId, asks
from service.routes.overlays import Studies, read_studies
from service.web.openapi import Route

router = APIRouter(tags=["figures"], route_class=Route)

Control = Annotated[str | None, asks("what the figure's control of this name offers; none: its default")]
Chosen = Annotated[list[str] | None, Query(max_length=64, description="only these, where the figure can be narrowed")]


@router.get("/figures")
def list_figures() -> FigureList:
    """Every figure there is; a study's own answer lists those that it has something for."""
    return FigureList(figures=described())


@router.get("/studies/{study_id}/figures/{name}", response_model=FigureAnswer)
def read_figure(
    study_id: StudyId,
    name: Annotated[str, Path(description="as in the list of figures")],
    parts: PartsOf,
    x: Control = None,
    y: Control = None,
    z: Control = None,
    trial: Chosen = None,
    arm: Chosen = None,
    studies: Studies = None,
) -> Response:
    """A figure of one study, or of several laid over each other; its controls say what the others choose."""
    chosen = named(name)
    with read_studies(parts, study_id, studies) as view:
        asked = Asked(view, x, y, z, tuple(trial or ()), tuple(arm or ()), parts.maps)
        # Ten thousand points as they are: what FastAPI would do to every number of them takes longer than the figure.
        body = view.memo(
            f"figure {name} {asked.choices!r}",
            lambda: orjson.dumps(chosen.drawn(asked), option=orjson.OPT_SERIALIZE_NUMPY),
        )
    return Response(body, media_type="application/json")
