"""The event log of a study: streamed out to watchers, taken in from drivers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from service.contract.wire.answers.streams import SentEvent
from service.contract.wire.errors import Conflict, Detail, InvalidInput
from service.contract.wire.events import Accepted, Reports, StudyEvent, TrialEvent
from service.routes.dependencies import Parts, PartsOf, StudyId
from service.web.bodies import Body
from service.web.openapi import Route, answers, ref, refuses, takes
from service.web.streams import stream

router = APIRouter(tags=["events"], route_class=Route)

EVENTS = "text/event-stream"
RESUMED = "the last event seen; browsers send it by themselves when they reconnect, and it wins over `after`"


@router.get("/studies/{study_id}/events", response_class=StreamingResponse, responses=answers({EVENTS: ref(SentEvent)}))
async def stream_events(
    study_id: StudyId,
    parts: PartsOf,
    after: Annotated[int, Query(ge=0, le=2**53, description="the last event seen, for a first request")] = 0,
    last_event_id: Annotated[str | None, Header(alias="Last-Event-ID", description=RESUMED)] = None,
) -> StreamingResponse:
    """Server-Sent Events from the start, or after `Last-Event-ID`; ids are 1, 2, 3 … without holes."""
    if last_event_id:
        if not last_event_id.isascii() or not last_event_id.isdigit() or len(last_event_id) > 15:
            message = f"Last-Event-ID is a number of this study's events, got {last_event_id[:40]!r}"
            raise InvalidInput(message, [Detail(path="Last-Event-ID", message=message)])
        after = int(last_event_id)
    await run_in_threadpool(parts.store.study, study_id)
    return StreamingResponse(
        stream(parts.store, parts.wake, study_id, after),
        media_type=EVENTS,
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


def _body(request: Request, parts: PartsOf) -> Body:
    return Body(request, parts.settings.max_report_bytes)


@router.post(
    "/studies/{study_id}/reports",
    openapi_extra=takes({"application/json": ref(Reports)}),
    responses=refuses(Conflict),
)
async def send_reports(study_id: StudyId, body: Annotated[Body, Depends(_body)], parts: PartsOf) -> Accepted:
    """What drivers send. Each event has its own uid; sending one twice changes nothing."""
    return await run_in_threadpool(_append, parts, study_id, await body.parsed(Reports))


def _append(parts: Parts, study_id: str, batch: Reports) -> Accepted:
    arms = parts.views.trial_ids(study_id)
    for i, event in enumerate(batch.events):
        if isinstance(event, TrialEvent):
            if event.trial not in arms:
                message = f"there is no trial {event.trial!r} in study {study_id}"
                raise InvalidInput(message, [Detail(path=f"events[{i}].trial", message=message)])
            event.arm = arms[event.trial]
    appended = parts.store.append(study_id, batch.events)
    if any(isinstance(event, StudyEvent) and event.leads_to.is_ended() for event in batch.events):
        parts.launcher.wake()
    return Accepted(accepted=appended.accepted, duplicates=appended.duplicates)
