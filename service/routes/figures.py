"""Figures as Plotly JSON."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from service.contract.errors import NotFound
from service.figures import FIGURES, described
from service.routes.dependencies import PartsOf

router = APIRouter(tags=["figures"])


@router.get("/figures")
def list_figures() -> dict[str, Any]:
    return {"figures": described()}


@router.get("/studies/{study_id}/figures/{name}")
def figure(study_id: str, name: str, parts: PartsOf, x: str | None = None, y: str | None = None) -> dict[str, Any]:
    """A figure of one study; `x` and `y` choose the metrics where it has a choice; convergence: up to accuracy x."""
    if name not in FIGURES:
        raise NotFound(f"there is no figure {name!r}; known: {', '.join(FIGURES)}")
    with parts.views.read(study_id) as view:
        return FIGURES[name].build(view, x, y)
