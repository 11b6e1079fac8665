"""Files of a trial: taken in from workers, handed out to readers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import FileResponse
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from service.contract.wire.errors import Conflict, Detail, InvalidInput, NotFound
from service.contract.wire.events import StudyState, TrialState
from service.contract.wire.latent_map import MapFile
from service.routes.dependencies import Parts, PartsOf, StudyId, TrialId
from service.store.artifacts import CHECKPOINT, LATENT_MAP, ArtifactName
from service.store.incoming import Draft
from service.web.bodies import Body
from service.web.openapi import FILE, Route, answers, refuses, takes

router = APIRouter(tags=["artifacts"], route_class=Route)

File = Annotated[ArtifactName, Path(description="which of the trial's files")]

BINARY = "application/octet-stream"
# Weights do not compress, and a length lets the reader see how far the download is.
AS_IT_IS = {"Content-Encoding": "identity"}


def _state(parts: Parts, study_id: str, trial_id: str) -> StudyState:
    """The study's; both must exist, so that ids from outside never become paths."""
    with parts.views.read(study_id) as view:
        if trial_id not in view.all_trials:
            raise NotFound(f"there is no trial {trial_id!r} in study {study_id}")
        return view.state


def _refusal(study_id: str, state: StudyState) -> Conflict:
    message = f"study {study_id} is {state.value} and takes no more files"
    return Conflict(message, [Detail(path="state", message=state.value)])


def _body(request: Request, name: File, parts: PartsOf) -> Body:
    """Weights go to the disk as they come; a latent map is read whole to be checked, so it has to be smaller."""
    settings = parts.settings
    return Body(request, settings.max_report_bytes if name == LATENT_MAP else settings.max_artifact_bytes)


def _check_map(draft: Draft) -> None:
    try:
        MapFile.model_validate_json(draft.content())
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(map(str, first["loc"]))
        detail = Detail(path=path, message=first["msg"])
        raise InvalidInput(f"not a latent map: {path} {first['msg']}", [detail]) from None


@router.put(
    "/studies/{study_id}/trials/{trial_id}/artifacts/{name}",
    status_code=204,
    openapi_extra=takes({BINARY: FILE}),
    responses=refuses(Conflict),
)
async def put_artifact(
    study_id: StudyId, trial_id: TrialId, name: File, body: Annotated[Body, Depends(_body)], parts: PartsOf
) -> None:
    """What workers send. A study that has ended takes only what it has already: a resend changes nothing."""
    state = await run_in_threadpool(_state, parts, study_id, trial_id)
    if state.is_ended() and not parts.artifacts.find(study_id, trial_id, name):
        raise _refusal(study_id, state)
    async with parts.room.for_file(study_id, trial_id, name, body.announced) as upload:
        with parts.artifacts.draft(study_id, trial_id, name) as draft:
            async for chunk in body.chunks():
                upload.arrived += await run_in_threadpool(draft.file.write, chunk)
            if state.is_ended():
                if not await run_in_threadpool(draft.is_known):
                    raise _refusal(study_id, state)
                return
            if name == LATENT_MAP:
                await run_in_threadpool(_check_map, draft)
            try:
                await run_in_threadpool(parts.store.study, study_id)
                await run_in_threadpool(draft.settle)
            except (NotFound, FileNotFoundError):  # deleted in the meantime
                parts.artifacts.forget(study_id)
                raise NotFound(f"there is no study {study_id!r}") from None


@router.get(
    "/studies/{study_id}/trials/{trial_id}/artifacts/{name}",
    response_class=FileResponse,
    responses=answers({BINARY: FILE}, json=MapFile),
)
def read_artifact(study_id: StudyId, trial_id: TrialId, name: File, parts: PartsOf) -> FileResponse:
    """A file as the worker sent it."""
    _state(parts, study_id, trial_id)
    place = parts.artifacts.find(study_id, trial_id, name)
    if place is None:
        raise NotFound(f"trial {trial_id} has no {name}: {_why_none(parts, study_id, trial_id, name)}")
    kind = "application/json" if name == LATENT_MAP else BINARY
    filename = f"{study_id}-{trial_id}{place.suffix}" if name == CHECKPOINT else f"{study_id}-{trial_id}-{name}"
    return FileResponse(place, media_type=kind, filename=filename, headers=AS_IT_IS)


@router.get(
    "/studies/{study_id}/trials/{trial_id}/checkpoint",
    response_class=FileResponse,
    responses=answers({BINARY: FILE}),
)
def read_checkpoint(study_id: StudyId, trial_id: TrialId, parts: PartsOf) -> FileResponse:
    """The trained weights as safetensors; its metadata says what they are of."""
    return read_artifact(study_id, trial_id, CHECKPOINT, parts)


def _why_none(parts: Parts, study_id: str, trial_id: str, name: ArtifactName) -> str:
    with parts.views.read(study_id) as view:
        evaluation, trial = view.study.evaluation, view.all_trials[trial_id]
        state, reason = trial.state, trial.reason
    if state is TrialState.FAILED:
        return f"it failed: {reason}"
    if name == LATENT_MAP:
        return "evaluation.latent_map did not ask for it, or it has not finished"
    if not evaluation.checkpoints:
        return "evaluation.checkpoints is off in this study; run it again with it on"
    return "it could not be kept, and its log says why" if state is TrialState.FINISHED else "it has not finished"
