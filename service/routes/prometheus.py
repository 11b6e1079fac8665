"""Prometheus."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST

from service.contract.wire.events import StudyState
from service.routes.dependencies import PartsOf
from service.web.openapi import TEXT, Route, answers

router = APIRouter(tags=["health"], route_class=Route)

UNDER_WAY = [state for state in StudyState if not state.is_ended()]


@router.get("/metrics", response_class=Response, responses=answers({"text/plain": TEXT}))
def read_metrics(parts: PartsOf) -> Response:
    """Queue, running studies, events, requests and errors, streams, silence, report lag and store, for Prometheus."""
    studies = {state: [row.id for row in parts.store.in_state(state)] for state in UNDER_WAY}
    text = parts.gauges.text(
        {state.value: len(ids) for state, ids in studies.items()},
        studies[StudyState.RUNNING],
        parts.wake.streams,
        parts.store.size_bytes(),
    )
    return Response(text, media_type=CONTENT_TYPE_LATEST)
