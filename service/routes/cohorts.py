"""Saved states of cohorts: taken in from trial processes, handed out to those that go on from them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import FileResponse
from starlette.concurrency import run_in_threadpool

from service.contract.wire.answers.studies import StateAnswer
from service.contract.wire.cohort_state import LONGEST_HEAD, CohortStates, head_of
from service.contract.wire.errors import Conflict, Detail, InvalidInput, NotFound
from service.contract.wire.events import StudyState
from service.routes.artifacts import AS_IT_IS, BINARY
from service.routes.dependencies import Parts, PartsOf, StudyId
from service.store.incoming import Draft
from service.web.bodies import Body
from service.web.openapi import FILE, Route, answers, refuses, takes

router = APIRouter(tags=["cohorts"], route_class=Route)

Key = Annotated[str, Path(pattern="^c[0-9a-f]{16}$", description="the key of a cohort: a hash of its members")]


def _body(request: Request, parts: PartsOf) -> Body:
    return Body(request, parts.settings.max_artifact_bytes)


@router.get("/studies/{study_id}/state")
def read_state(study_id: StudyId, parts: PartsOf) -> StateAnswer:
    """The state alone, which costs next to nothing: trial processes ask for it to hear of a pause, drivers also to hear
    whether trials elsewhere have told anything."""
    state, last = parts.store.study(study_id).state, parts.store.last_seqs([study_id]).get(study_id, 0)
    leave = state is StudyState.PAUSED or parts.launcher.leaving.is_set()
    return StateAnswer(state=state, leave=leave, last_seq=last)


@router.get("/studies/{study_id}/cohorts")
def list_cohorts(study_id: StudyId, parts: PartsOf) -> CohortStates:
    """The cohorts of a study that were saved and have not ended: who is in them, and after which epoch they go on."""
    with parts.views.read(study_id) as view:
        over = {trial_id for trial_id, trial in view.all_trials.items() if trial.is_over}
    states = parts.states.of(study_id)
    return CohortStates(cohorts=[state for state in states if not over.issuperset(state.living)])


@router.put(
    "/studies/{study_id}/cohorts/{key}/state",
    status_code=204,
    openapi_extra=takes({BINARY: FILE}),
    responses=refuses(Conflict),
)
async def put_state(
    study_id: StudyId,
    key: Key,
    body: Annotated[Body, Depends(_body)],
    parts: PartsOf,
    anew: Annotated[
        bool, Query(description="the state that is kept could not be read: this one takes its place")
    ] = False,
) -> None:
    """What trial processes save every few minutes and on a pause: safetensors whose metadata name the members. 409
    for one that is behind what is kept of them."""
    await run_in_threadpool(_check_open, parts, study_id)
    async with parts.room.for_state(study_id, key, body.announced) as upload:
        with parts.states.draft(study_id, key) as draft:
            async for chunk in body.chunks():
                upload.arrived += await run_in_threadpool(draft.file.write, chunk)
            await run_in_threadpool(_check_head, parts, study_id, key, draft, anew)
            await run_in_threadpool(_settle, parts, study_id, draft)


@router.get("/studies/{study_id}/cohorts/{key}/state", response_class=FileResponse, responses=answers({BINARY: FILE}))
def read_saved(study_id: StudyId, key: Key, parts: PartsOf) -> FileResponse:
    """The state as it was saved."""
    parts.store.study(study_id)
    place = parts.states.find(study_id, key)
    if place is None:
        raise NotFound(f"study {study_id} has no saved state of cohort {key}")
    return FileResponse(place, media_type=BINARY, headers=AS_IT_IS)


def _check_open(parts: Parts, study_id: str) -> None:
    state = parts.store.study(study_id).state
    if state.is_ended():
        message = f"study {study_id} is {state.value} and saves nothing more"
        raise Conflict(message, [Detail(path="state", message=state.value)])


def _check_head(parts: Parts, study_id: str, key: str, draft: Draft, anew: bool) -> None:
    try:
        state = head_of(draft.start(8 + LONGEST_HEAD))
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"not the saved state of a cohort: {str(error)[:300]}") from None
    if state.key != key:
        raise InvalidInput(f"these members have the key {state.key}, got {key}")
    known = parts.views.trial_ids(study_id)
    if unknown := [trial for trial in state.members if trial not in known]:
        raise InvalidInput(f"there is no trial {unknown[0]!r} in study {study_id}")
    kept = None if anew else parts.states.head(study_id, key)
    if kept is not None and state.epoch < kept.epoch:
        message = f"cohort {key} is saved after its epoch {kept.epoch}: a state after epoch {state.epoch} is behind it"
        raise Conflict(message, [Detail(path="epoch", message=str(kept.epoch))])


def _settle(parts: Parts, study_id: str, draft: Draft) -> None:
    try:
        parts.store.study(study_id)
        draft.settle()
    except (NotFound, FileNotFoundError):  # deleted in the meantime
        parts.states.forget(study_id)
        raise NotFound(f"there is no study {study_id!r}") from None
