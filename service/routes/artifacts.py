"""Files of a trial: taken in from workers, handed out to readers."""

from __future__ import annotations

import shutil
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from service.artifacts import CHECKPOINT, LATENT_MAP, ArtifactName, Draft
from service.contract.errors import Conflict, Detail, InvalidInput, NotFound, TooLarge
from service.contract.events import StudyState
from service.contract.latent_map import MapFile
from service.routes.dependencies import Parts, PartsOf

router = APIRouter(tags=["artifacts"])

BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
# Weights do not compress, and a length lets the reader see how far the download is.
AS_IT_IS = {"Content-Encoding": "identity"}


def _state(parts: Parts, study_id: str, trial_id: str) -> StudyState:
    """The study's; both must exist, so that ids from outside never become paths."""
    with parts.views.read(study_id) as view:
        if trial_id not in view.trials:
            raise NotFound(f"there is no trial {trial_id!r} in study {study_id}")
        return view.state


def _refusal(study_id: str, state: StudyState) -> Conflict:
    message = f"study {study_id} is {state.value} and takes no more files"
    return Conflict(message, [Detail(path="state", message=state.value)])


def _check_space(parts: Parts, announced: str | None) -> None:
    """Weights must not fill the disk that the log of all studies needs."""
    size = int(announced) if announced and announced.isdigit() else parts.settings.max_artifact_bytes
    free, keep = shutil.disk_usage(parts.settings.home).free, parts.settings.keep_free_bytes
    if free - size < keep:
        raise TooLarge(
            f"the service's disk has {free:,} bytes left and keeps {keep:,} of them free, PARETOSCOPE_KEEP_FREE_BYTES: "
            "delete studies, or set evaluation.checkpoints to false"
        )


def _check_map(draft: Draft) -> None:
    try:
        MapFile.model_validate_json(draft.content())
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(map(str, first["loc"]))
        raise InvalidInput(f"no latent map: {path} {first['msg']}", [Detail(path=path, message=first["msg"])]) from None


@router.put("/studies/{study_id}/trials/{trial_id}/artifacts/{name}", status_code=204, openapi_extra=BODY)
async def put(study_id: str, trial_id: str, name: ArtifactName, request: Request, parts: PartsOf) -> None:
    """What workers send. A study that has ended takes only what it has already: a resend changes nothing."""
    state = await run_in_threadpool(_state, parts, study_id, trial_id)
    if state.is_ended() and not parts.artifacts.find(study_id, trial_id, name):
        raise _refusal(study_id, state)
    _check_space(parts, request.headers.get("content-length"))
    with parts.artifacts.draft(study_id, trial_id, name) as draft:
        try:
            async for chunk in request.stream():
                await run_in_threadpool(draft.file.write, chunk)
        except ClientDisconnect:
            raise InvalidInput("the upload broke off") from None
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


@router.get("/studies/{study_id}/trials/{trial_id}/artifacts/{name}", response_class=FileResponse)
def get(study_id: str, trial_id: str, name: ArtifactName, parts: PartsOf) -> FileResponse:
    """A file as the worker sent it."""
    _state(parts, study_id, trial_id)
    place = parts.artifacts.find(study_id, trial_id, name)
    if place is None:
        raise NotFound(f"trial {trial_id} has no {name}: {_why_none(parts, study_id, name)}")
    kind = "application/json" if place.suffix == ".json" else "application/octet-stream"
    filename = f"{study_id}-{trial_id}{place.suffix}" if name == CHECKPOINT else f"{study_id}-{trial_id}-{name}"
    return FileResponse(place, media_type=kind, filename=filename, headers=AS_IT_IS)


@router.get("/studies/{study_id}/trials/{trial_id}/checkpoint", response_class=FileResponse)
def checkpoint(study_id: str, trial_id: str, parts: PartsOf) -> Any:
    """The trained weights as safetensors; its metadata says what they are of."""
    return get(study_id, trial_id, CHECKPOINT, parts)


def _why_none(parts: Parts, study_id: str, name: ArtifactName) -> str:
    with parts.views.read(study_id) as view:
        evaluation = view.study.evaluation
    if name == CHECKPOINT:
        return "it has not finished" if evaluation.checkpoints else "evaluation.checkpoints is off in this study"
    return "evaluation.latent_map did not ask for it, or it has not finished"
