"""What people write about studies and trials."""

from __future__ import annotations

import secrets
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool

from service.answers.studies import study_answer
from service.answers.trials import trial_answer
from service.contract.wire.answers.studies import StudyAnswer
from service.contract.wire.answers.trials import TrialAnswer
from service.contract.wire.errors import NotFound
from service.contract.wire.events import RESERVED, FromReaders
from service.contract.wire.notes import StudyNote, TrialNote
from service.routes.dependencies import Parts, PartsOf, StudyId, TrialId
from service.web.bodies import Body
from service.web.openapi import Route, ref, takes

router = APIRouter(tags=["notes"], route_class=Route)


def _body(request: Request, parts: PartsOf) -> Body:
    return Body(request, parts.settings.max_study_bytes)


NoteBody = Annotated[Body, Depends(_body)]


def _uid() -> str:
    return f"{RESERVED}noted-{secrets.token_hex(8)}"


def _write(parts: Parts, study_id: str, event: FromReaders) -> None:
    parts.store.append(study_id, [event])
    parts.summaries.of([study_id])  # kept from now on: no list folds it again


@router.patch("/studies/{study_id}", openapi_extra=takes({"application/json": ref(StudyNote)}))
async def note_study(study_id: StudyId, body: NoteBody, parts: PartsOf) -> StudyAnswer:
    """Another name, notes, tags; pinned or archived. In any state; what is left out stays as it is."""
    wish = await body.parsed(StudyNote)

    def write() -> StudyAnswer:
        _write(parts, study_id, wish.noted(_uid()))
        with parts.views.read(study_id) as view:
            return study_answer(view)

    return await run_in_threadpool(write)


@router.patch("/studies/{study_id}/trials/{trial_id}", openapi_extra=takes({"application/json": ref(TrialNote)}))
async def note_trial(study_id: StudyId, trial_id: TrialId, body: NoteBody, parts: PartsOf) -> TrialAnswer:
    """Notes and tags of a trial. In any state; what is left out stays as it is."""
    wish = await body.parsed(TrialNote)

    def write() -> TrialAnswer:
        with parts.views.read(study_id) as view:
            if trial_id not in view.all_trials:
                raise NotFound(f"there is no trial {trial_id!r} in study {study_id}")
        _write(parts, study_id, wish.noted(_uid(), trial_id))
        with parts.views.read(study_id) as view:
            return trial_answer(view, trial_id, parts.artifacts.sizes(study_id, trial_id))

    return await run_in_threadpool(write)
