"""Studies: submit, check, list, read, cancel, delete."""

from __future__ import annotations

import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from service.answers import front_answer, study_answer
from service.checks import check_answer
from service.comparison import comparison_answer
from service.contract.errors import InvalidInput
from service.contract.events import StudyState
from service.contract.parsing import parse_study
from service.contract.study import Study
from service.figures import offered
from service.routes.dependencies import PartsOf
from service.routes.overlays import Studies, read_studies

router = APIRouter(tags=["studies"])

BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/Study"}},
            "application/yaml": {"schema": {"type": "string"}},
        },
    }
}
Limit = Annotated[int, Query(ge=1, le=1000)]
Key = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200)]


async def _text(request: Request) -> tuple[str, str]:
    """The body and its kind; JSON unless the content type says YAML."""
    raw = await request.body()
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"the body is not UTF-8: {error.reason} at byte {error.start}") from None
    return text, "yaml" if "yaml" in request.headers.get("content-type", "") else "json"


async def _study(request: Request) -> Study:
    """The body as a checked study."""
    return await run_in_threadpool(parse_study, *await _text(request))


@router.post("/studies", status_code=201, openapi_extra=BODY)
async def submit(request: Request, response: Response, parts: PartsOf, key: Key = None) -> dict[str, Any]:
    """Submit a study. `Idempotency-Key` makes a retry safe."""
    study = await _study(request)

    def create() -> dict[str, Any]:
        spec = study.model_dump(by_alias=True, mode="json")
        row, _ = parts.store.create("s" + secrets.token_hex(5), spec, key)
        parts.launcher.wake()
        with parts.views.read(row.id) as view:
            return study_answer(view)

    answer = await run_in_threadpool(create)
    response.headers["Location"] = f"/api/studies/{answer['id']}"
    return answer


@router.post("/studies/check", openapi_extra=BODY)
async def check(request: Request, parts: PartsOf) -> dict[str, Any]:
    """Check a study without submitting it: its trials and what they will cost, or the error a submission would get."""
    try:
        text, kind = await _text(request)
    except InvalidInput as error:
        return {"valid": False, "error": error.public(), "spec": None}
    return await run_in_threadpool(check_answer, text, kind, parts.estimates)


@router.get("/studies")
def list_studies(
    parts: PartsOf, state: StudyState | None = None, limit: Limit = 50, after: str | None = None
) -> dict[str, Any]:
    """Newest first."""
    rows = parts.store.list_studies(state, limit + 1, after)
    answers = []
    for row in rows[:limit]:
        with parts.views.read(row.id) as view:
            answers.append(study_answer(view, with_spec=False))
    return {"studies": answers, "next": rows[limit - 1].id if len(rows) > limit else None}


@router.get("/studies/{study_id}")
def read(study_id: str, parts: PartsOf) -> dict[str, Any]:
    """Spec, state, counts, progress, eta, arms with their hypervolume."""
    with parts.views.read(study_id) as view:
        answer = study_answer(view)
        answer["figures"] = offered(view)
    if answer["state"] == StudyState.QUEUED.value:
        waiting = [row.id for row in parts.store.in_state(StudyState.QUEUED)]
        answer["queue_position"] = waiting.index(study_id) + 1 if study_id in waiting else None
    return answer


@router.post("/studies/{study_id}/cancel")
def cancel(study_id: str, parts: PartsOf) -> dict[str, Any]:
    """Ends now, keeps results. 409 when it has ended already."""
    parts.launcher.cancel(study_id)
    with parts.views.read(study_id) as view:
        return study_answer(view)


@router.delete("/studies/{study_id}", status_code=204)
def delete(study_id: str, parts: PartsOf) -> None:
    """Only when not running."""
    parts.store.delete(study_id)
    parts.views.forget(study_id)
    parts.artifacts.forget(study_id)


@router.get("/studies/{study_id}/front")
def front(study_id: str, parts: PartsOf, x: str | None = None, y: str | None = None) -> dict[str, Any]:
    """Per arm and over all: non-dominated points, and hypervolume with its reference point."""
    with parts.views.read(study_id) as view:
        return front_answer(view, x, y)


@router.get("/studies/{study_id}/comparison")
def comparison(study_id: str, parts: PartsOf, studies: Studies = None) -> dict[str, Any]:
    """Arms side by side: best values, front share, hypervolume over seeds and against cost, tests, a verdict."""
    with read_studies(parts, study_id, studies) as view:
        return comparison_answer(view)
