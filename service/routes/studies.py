"""Studies: submit, check, list, read, pause, resume, cancel, delete."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from service.answers.checks import check_answer
from service.answers.comparison import comparison_answer
from service.answers.sought import Sought
from service.answers.studies import front_answer, study_answer, study_with_figures, unreadable_study, up_to_now
from service.contract.study.data_paths import check_as_written, folders_of
from service.contract.study.domains import check_domains
from service.contract.study.extension import Extension
from service.contract.study.parsing import parse, read
from service.contract.study.study import Study
from service.contract.wire.answers.checks import CheckAnswer, RefusedStudy
from service.contract.wire.answers.comparison import ComparisonAnswer
from service.contract.wire.answers.front import FrontAnswer
from service.contract.wire.answers.studies import StudyAnswer, StudyList, StudySummary, StudyWithFigures
from service.contract.wire.ceilings import STUDIES_LISTED
from service.contract.wire.errors import Conflict, InvalidInput, TooManyRequests, Unreadable
from service.contract.wire.events import StudyState
from service.figures import offered
from service.routes.counting import counted
from service.routes.dependencies import CallerOf, Parts, PartsOf, StudyId, asks
from service.routes.earlier_studies import with_earlier_trials
from service.routes.named_code import check_scope, check_still_there, with_known_code
from service.routes.overlays import Studies, read_studies
from service.views.unreadable import UnreadableStudy
from service.web.bodies import Body
from service.web.openapi import TEXT, Route, ref, refuses, takes
from service.web.quotas import check_study as check_quota
from service.web.quotas import trials_of
from service.web.scopes import needs

router = APIRouter(tags=["studies"], route_class=Route)

STUDY = takes({"application/json": ref(Study), "application/yaml": TEXT})
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="a key of your choice: a study already submitted with it is returned, not submitted again",
    ),
]
State = Annotated[StudyState | None, asks("only studies in this state")]
Limit = Annotated[int, Query(ge=1, le=STUDIES_LISTED, description="how many at most")]
After = Annotated[str | None, asks("the id of the last study seen; the list continues after it")]
Metric = Annotated[str | None, asks("a metric of the study; none: its objective")]


def _body(request: Request, parts: PartsOf) -> Body:
    return Body(request, parts.settings.max_study_bytes)


StudyBody = Annotated[Body, Depends(_body)]


LANGUAGES = ("json", "yaml")


def _check_place(parts: Parts, study: Study) -> None:
    """Data of your own lies where studies may read, and has the domains that are named; workers look once more."""
    folder, opened = parts.settings.data_folder, folders_of(parts.settings.open_folders)
    path = getattr(study.data, "path", None)
    if isinstance(path, str):
        check_as_written(path, folder, opened)
    check_domains(study, folder, opened)


@router.post("/studies", status_code=201, openapi_extra=STUDY, responses=refuses(Conflict))
async def submit_study(
    body: StudyBody, response: Response, parts: PartsOf, caller: CallerOf, key: Key = None
) -> StudyAnswer:
    """Submit a study. `Idempotency-Key` makes a retry safe."""
    if wait := parts.submissions.take_permit(caller.name):
        raise TooManyRequests("too many studies were submitted with this token", wait)
    language = body.language(LANGUAGES)
    text = await body.text()

    def checked() -> Study:
        return parse(with_known_code(read(text, language), parts, caller))

    study = await run_in_threadpool(checked)
    await run_in_threadpool(_check_place, parts, study)
    study = await run_in_threadpool(with_earlier_trials, study, parts)

    def create() -> StudyAnswer:
        spec = study.model_dump(by_alias=True, mode="json")
        with parts.tokens.admission() if caller.token or study.code else nullcontext():
            trials = trials_of(study)
            check_still_there(parts, study)
            is_retry = key is not None and parts.store.has_key(key)  # it was counted the first time
            if caller.token and not is_retry:
                check_quota(parts.tokens, caller.token, trials)
            row, is_new = parts.store.create("s" + secrets.token_hex(5), spec, key)
            if caller.token and is_new:
                parts.tokens.own(caller.token.id, row.id, trials)
        parts.launcher.wake()
        with parts.views.read(row.id) as view:
            return study_answer(view)

    answer = await run_in_threadpool(create)
    response.headers["Location"] = f"/api/studies/{answer.id}"
    return answer


@router.post("/studies/check", openapi_extra={**STUDY, **needs("read")})
async def check_study(body: StudyBody, parts: PartsOf, caller: CallerOf) -> CheckAnswer:
    """Check a study without submitting it: its trials and what they will cost, or the error a submission would get."""
    language = body.language(LANGUAGES)
    try:
        text = await body.text()
    except InvalidInput as error:
        return RefusedStudy(valid=False, error=error.public(), spec=None)
    known = partial(with_known_code, parts=parts, caller=caller, keeps=False)

    def allow(study: Study) -> None:
        _check_place(parts, study)
        with_earlier_trials(study, parts)

    return await run_in_threadpool(check_answer, text, language, parts.estimates, allow, known)


@router.get("/studies")
def list_studies(
    parts: PartsOf,
    state: State = None,
    limit: Limit = 50,
    after: After = None,
    text: Annotated[
        str | None, Query(max_length=200, description="words of its name, notes, tags, data or arms")
    ] = None,
    tag: Annotated[str | None, asks("only studies with this tag")] = None,
    data: Annotated[str | None, asks("only studies of this data set")] = None,
    arm: Annotated[str | None, asks("only studies with an arm of this name")] = None,
    pinned: Annotated[bool | None, asks("only studies that are pinned, or only the others")] = None,
    archived: Annotated[bool, asks("those that were archived, in place of the others")] = False,
) -> StudyList:
    """Newest first, without those that were archived unless they are asked for."""
    sought = Sought(text, tag, data, arm, pinned, archived)
    page = list(islice(_sought(parts, state, after, limit + 1, sought), limit + 1))
    return StudyList(
        studies=[up_to_now(study, datetime.now(UTC)) for study in page[:limit]],
        next=page[limit - 1].id if len(page) > limit else None,
    )


def _sought(parts: Parts, state: State, after: str | None, at_once: int, sought: Sought) -> Iterator[StudySummary]:
    """Page by page, as far as somebody reads on."""
    while True:
        rows = parts.store.list_studies(state, at_once, after)
        yield from filter(sought.fits, parts.summaries.of([row.id for row in rows]).values())
        if len(rows) < at_once:
            return
        after = rows[-1].id


@router.get("/studies/{study_id}")
def read_study(study_id: StudyId, parts: PartsOf) -> StudyWithFigures:
    """Spec, state, counts, progress, eta, arms with their hypervolume."""
    try:
        with parts.views.read(study_id) as view:
            answer = study_with_figures(view, offered(view))
    except Unreadable as error:
        answer = unreadable_study(UnreadableStudy.of(parts.store.study(study_id), error.message))
    if answer.state is StudyState.QUEUED:
        waiting = [row.id for row in parts.store.in_state(StudyState.QUEUED)]
        answer.queue_position = waiting.index(study_id) + 1 if study_id in waiting else None
    answer.pausing = answer.state is StudyState.PAUSED and parts.launcher.is_leaving(study_id)
    return answer


@router.post("/studies/{study_id}/pause", responses=refuses(Conflict))
def pause_study(study_id: StudyId, parts: PartsOf) -> StudyAnswer:
    """No new trials; those in training save their state after their epoch, and leave. 409 when it neither waits nor
    runs."""
    parts.launcher.pause(study_id)
    with parts.views.read(study_id) as view:
        return study_answer(view)


@router.post("/studies/{study_id}/resume", responses=refuses(Conflict))
def resume_study(study_id: StudyId, parts: PartsOf, caller: CallerOf) -> StudyAnswer:
    """A paused or failed study goes on where it was. 409 in any other state."""
    check_scope(parts, caller, study_id)
    with counted(parts, caller, study_id):
        parts.launcher.resume(study_id)
    with parts.views.read(study_id) as view:
        return study_answer(view)


@router.post("/studies/{study_id}/retry", responses=refuses(Conflict))
def retry_study(study_id: StudyId, parts: PartsOf, caller: CallerOf) -> StudyAnswer:
    """Failed trials once more, from the beginning; each at most three times, each time after a longer wait. 409 when
    none can be, or the study waits, runs or was cancelled."""
    check_scope(parts, caller, study_id)
    with counted(parts, caller, study_id):
        parts.launcher.retry(study_id)
    with parts.views.read(study_id) as view:
        return study_answer(view)


@router.post(
    "/studies/{study_id}/extend",
    openapi_extra=takes({"application/json": ref(Extension)}),
    responses=refuses(Conflict),
)
async def extend_study(study_id: StudyId, body: StudyBody, parts: PartsOf, caller: CallerOf) -> StudyAnswer:
    """More seeds, grid points or epochs; finished trials are not run again, but go on to more epochs. 409 when the
    study waits, runs (pause it first) or was cancelled."""
    wish = await body.parsed(Extension)

    def extend() -> StudyAnswer:
        check_scope(parts, caller, study_id)
        with counted(parts, caller, study_id, wish):
            parts.launcher.extend(study_id, wish)
        with parts.views.read(study_id) as view:
            return study_answer(view)

    return await run_in_threadpool(extend)


@router.post("/studies/{study_id}/cancel", responses=refuses(Conflict))
def cancel_study(study_id: StudyId, parts: PartsOf) -> StudyAnswer:
    """Ends now, keeps results. 409 when it has ended already."""
    parts.launcher.cancel(study_id)
    parts.states.forget(study_id)
    try:
        with parts.views.read(study_id) as view:
            return study_answer(view)
    except Unreadable as error:
        return unreadable_study(UnreadableStudy.of(parts.store.study(study_id), error.message))


@router.delete("/studies/{study_id}", status_code=204, responses=refuses(Conflict))
def delete_study(study_id: StudyId, parts: PartsOf) -> None:
    """Only when not running."""
    parts.store.delete(study_id)
    parts.views.forget(study_id)
    parts.summaries.forget(study_id)
    parts.artifacts.forget(study_id)
    parts.tokens.forget(study_id)
    parts.tokens.disown(study_id)
    parts.states.forget(study_id)


@router.get("/studies/{study_id}/front")
def read_front(study_id: StudyId, parts: PartsOf, x: Metric = None, y: Metric = None) -> FrontAnswer:
    """Per arm and over all: non-dominated points, and hypervolume with its reference point."""
    with parts.views.read(study_id) as view:
        return front_answer(view, x, y)


@router.get("/studies/{study_id}/comparison")
def read_comparison(study_id: StudyId, parts: PartsOf, studies: Studies = None) -> ComparisonAnswer:
    """Arms side by side: best values, what each adds, hypervolume over seeds and against cost, tests, a verdict."""
    with read_studies(parts, study_id, studies) as view:
        return comparison_answer(view)
