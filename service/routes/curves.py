"""Curves of a study: trials that train many trade-offs at once."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter

from service.answers.curves import curves_answer
from service.contract.wire.answers.curves import CurvesAnswer
from service.routes.dependencies import PartsOf, StudyId, asks
from service.web.openapi import Route

router = APIRouter(tags=["curves"], route_class=Route)


@router.get("/studies/{study_id}/curves")
def read_curves(
    study_id: StudyId,
    parts: PartsOf,
    trial: Annotated[str | None, asks("a trial of the curve; none: the study's first")] = None,
) -> CurvesAnswer:
    """Which curves there are, and one of them place by place, over its seeds, beside separately trained networks."""
    with parts.views.read(study_id) as view:
        return curves_answer(view, trial)
