"""One point of a study, picked by a rule."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from service.answers.picking import Wish, pick_answer
from service.contract.wire.answers.picking import PickAnswer, PickedBy
from service.contract.wire.errors import Conflict
from service.routes.dependencies import PartsOf, StudyId
from service.web.openapi import Route, refuses

router = APIRouter(tags=["picking"], route_class=Route)

Text = Annotated[str | None, Query(max_length=400)]
METRIC_NUMBER = "as metric:number, several with commas between"


@router.get("/studies/{study_id}/pick", responses=refuses(Conflict))
def pick(
    study_id: StudyId,
    parts: PartsOf,
    by: Annotated[
        PickedBy,
        Query(
            description="knee: bulges furthest from the line between the front's ends; weights: nearest to the best of "
            "each objective; constraint: within bounds, then best in `then`; gap: whose neighbours lie furthest apart"
        ),
    ] = "knee",
    weights: Annotated[Text, Query(description=f"preferences of the objectives, {METRIC_NUMBER}")] = None,
    at_least: Annotated[Text, Query(description=f"of a constraint, {METRIC_NUMBER}")] = None,
    at_most: Annotated[Text, Query(description=f"of a constraint, {METRIC_NUMBER}")] = None,
    then: Annotated[
        Text, Query(description="the metric that decides within the bounds; none: the first objective without one")
    ] = None,
    arm: Annotated[Text, Query(description="only points of this arm; none: of all")] = None,
) -> PickAnswer:
    """A trial, or a point of a trial's curve: its settings, metrics and weights, and a study of it alone."""
    with parts.views.read(study_id) as view:
        return pick_answer(view, Wish(by, weights, at_least, at_most, then, arm))
