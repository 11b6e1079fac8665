"""The event log of a study: streamed out to watchers, taken in from drivers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from service.contract.errors import Detail, InvalidInput
from service.contract.events import Accepted, Reports
from service.routes.dependencies import PartsOf
from service.streams import stream

router = APIRouter(tags=["events"])


@router.get("/studies/{study_id}/events", response_class=StreamingResponse)
async def events(
    study_id: str,
    parts: PartsOf,
    after: Annotated[int, Query(ge=0, le=2**53)] = 0,
    last_event_id: Annotated[str | None, Header(alias="Last-Event-ID")] = None,
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
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


@router.post("/studies/{study_id}/reports")
def reports(study_id: str, batch: Reports, parts: PartsOf) -> Accepted:
    """What drivers send. Each event has its own uid; sending one twice changes nothing."""
    arms = parts.views.trial_ids(study_id)
    sent = []
    for i, event in enumerate(batch.events):
        body = event.model_dump(exclude={"uid", "kind"}, exclude_none=True)
        if event.kind == "report":
            body["metrics"] = event.metrics
        trial = body.get("trial")
        if trial is not None:
            if trial not in arms:
                message = f"there is no trial {trial!r} in study {study_id}"
                raise InvalidInput(message, [Detail(path=f"events[{i}].trial", message=message)])
            body = {"trial": trial, "arm": arms[trial], **body}
        sent.append((event.uid, event.kind, body))

    accepted, duplicates = parts.store.append(study_id, sent)
    if any(event.kind in ("study_finished", "study_failed") for event in batch.events):
        parts.launcher.wake()
    return Accepted(accepted=accepted, duplicates=duplicates)
