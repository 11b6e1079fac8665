"""The event log of a study: streamed out to watchers, taken in from drivers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from service.contract.wire.answers.streams import SentEvent
from service.contract.wire.errors import Conflict, Detail, InvalidInput
from service.contract.wire.events import (
    RESERVED,
    SINCE_HEADER,
    STATE_HEADER,
    Accepted,
    RefusedEvent,
    Reports,
    StudyEvent,
    StudyFinished,
    StudyState,
    TrialEvent,
    TrialFailed,
    TrialFinished,
    TrialStopped,
)
from service.routes.dependencies import CallerOf, Parts, PartsOf, StudyId
from service.routes.elsewhere import check_sender, misplaced
from service.routes.epochs import beyond_plan
from service.routes.metric_names import too_many_names
from service.web.bodies import Body
from service.web.openapi import Route, answers, ref, refuses, takes
from service.web.scopes import needs
from service.web.streams import stream

router = APIRouter(tags=["events"], route_class=Route)

EVENTS = "text/event-stream"
SINCE = "when the first of them happened, in seconds since 1970: how late reports are is read off it"
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
    openapi_extra={**takes({"application/json": ref(Reports)}), **needs("ingest")},
    responses=refuses(Conflict),
)
async def send_reports(
    study_id: StudyId,
    body: Annotated[Body, Depends(_body)],
    response: Response,
    parts: PartsOf,
    caller: CallerOf,
    since: Annotated[float | None, Header(alias=SINCE_HEADER, ge=0, allow_inf_nan=False, description=SINCE)] = None,
) -> Accepted:
    """What drivers send, and whoever asked for a trial. Each event has its own uid; sending one twice changes nothing.

    Events that may not follow are refused one by one and named, the others taken; 422 where that leaves none. 409 when
    the study takes no events now, or the sender was replaced or its lease is over: it has nothing more to do.
    """
    batch = await body.parsed(Reports)
    await run_in_threadpool(check_sender, parts, caller, study_id, batch.events)
    accepted = await run_in_threadpool(_append, parts, study_id, batch)
    parts.gauges.heard(study_id, accepted.accepted, since)
    response.headers[STATE_HEADER] = (await run_in_threadpool(parts.store.study, study_id)).state.value
    return accepted


def _append(parts: Parts, study_id: str, batch: Reports) -> Accepted:
    arms = parts.views.trial_ids(study_id)
    if any(isinstance(event, TrialEvent) and event.trial not in arms for event in batch.events):
        with parts.views.read(study_id) as view:  # it may have been extended, and not read since
            arms = view.arms
    refused: dict[str, Detail] = {}
    for i, event in enumerate(batch.events):
        if event.uid.startswith(RESERVED):
            refused[event.uid] = Detail(path=f"events[{i}].uid", message=f"{RESERVED}… is reserved, got {event.uid!r}")
        elif isinstance(event, TrialEvent):
            if event.trial in arms:
                event.arm = arms[event.trial]
            else:
                message = f"there is no trial {event.trial!r} in study {study_id}"
                refused[event.uid] = Detail(path=f"events[{i}].trial", message=message)
    places = {event.uid: i for i, event in reversed(list(enumerate(batch.events)))}
    unfit = {**beyond_plan(parts, study_id, batch.events), **misplaced(parts, study_id, batch.events)}
    for uid, detail in unfit.items():
        place = f"events[{places[uid]}].{detail.path}"
        refused.setdefault(uid, Detail(path=place, message=detail.message))
    refused = {**too_many_names(parts, study_id, batch.events), **refused}
    events = [event for event in batch.events if event.uid not in refused]
    appended = parts.store.append(study_id, events, job=batch.job)
    for uid, reason in appended.refused:
        refused[uid] = Detail(path=f"events[{places[uid]}]", message=reason)
    if refused and not appended.accepted and not appended.duplicates:
        raise InvalidInput(next(iter(refused.values())).message, list(refused.values()))
    if any(isinstance(event, StudyEvent) and event.leads_to.is_ended() for event in events):
        parts.launcher.wake()
        parts.summaries.of([study_id])  # kept from now on: no list folds it again
    ends = any(isinstance(event, StudyFinished) for event in events)
    if ends and parts.store.study(study_id).state is StudyState.FINISHED:  # not an earlier end, told once more
        parts.states.drop_ended(study_id)
    elif any(isinstance(event, (TrialFinished, TrialFailed, TrialStopped)) for event in events):
        _drop_states(parts, study_id)
    refusals = [RefusedEvent(uid=uid, reason=detail.message) for uid, detail in refused.items()]
    return Accepted(
        accepted=appended.accepted, duplicates=appended.duplicates, refused=len(refusals), refusals=refusals
    )


def _drop_states(parts: Parts, study_id: str) -> None:
    """A cohort that the log has to its end needs no state any more."""
    with parts.views.read(study_id) as view:
        over = {trial_id for trial_id, trial in view.all_trials.items() if trial.is_over}
    parts.states.drop_ended(study_id, over)
