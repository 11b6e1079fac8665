"""Code of your own: sent, described by Ray, handed to those that run it."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import FileResponse
from starlette.concurrency import run_in_threadpool

from service.contract.wire.answers.code import (
    CodeAnswer,
    CodeList,
    CodeState,
    KeptCode,
    OwnMetricAnswer,
    OwnParameterAnswer,
    OwnProblemAnswer,
)
from service.contract.wire.errors import Conflict, Detail, Forbidden, InvalidInput, NotFound, TooManyRequests
from service.contract.wire.reading import CodeReading
from service.routes.dependencies import CallerOf, PartsOf, StudyId
from service.store.code import Reading, unpacked
from service.web.bodies import Body
from service.web.openapi import FILE, Route, answers, ref, refuses, takes
from service.web.scopes import DRIVER, needs

router = APIRouter(tags=["code"], route_class=Route)

CodeHash = Annotated[str, Path(pattern=r"^[0-9a-f]{64}$", description="the code's hash")]
Entry = Annotated[
    str | None,
    Query(max_length=1000, description="the file to import; none: the only one, or main.py"),
]
# A file or an archive, whose first bytes tell. `text/x-python` and `application/zip` are taken too, but few generators
# of clients know them.
BINARY = "application/octet-stream"
FIRST_OF_ARCHIVE = b"PK"
MOST_NAMED = 100  # studies, in a refusal


def _body(request: Request, parts: PartsOf) -> Body:
    return Body(request, parts.settings.max_code_bytes)


def _report(request: Request, parts: PartsOf) -> Body:
    return Body(request, parts.settings.max_study_bytes)


@router.post("/code", status_code=201, openapi_extra={**takes({BINARY: FILE}), **needs("code")})
async def send_code(
    body: Annotated[Body, Depends(_body)], parts: PartsOf, caller: CallerOf, entry: Entry = None
) -> CodeAnswer:
    """Send a Python file, or a folder as a zip. Ray reads it in a process of its own; a study names it by its hash."""
    if wait := parts.code_sent.take_permit(caller.name):
        raise TooManyRequests("code was sent too often with this token", wait)
    language = body.language(("zip", "python", "octet-stream"))
    content = await body.read()
    is_archive = language == "zip" or (language == "octet-stream" and content.startswith(FIRST_OF_ARCHIVE))

    def keep() -> CodeAnswer:
        name = entry or "main.py"
        files = unpacked(content, parts.settings.max_code_bytes) if is_archive else {name: content}
        if is_archive and entry is None:
            files = _of_the_folder(files)
        admission = parts.tokens.admission() if caller.token else nullcontext()
        with admission, parts.room.for_code(caller.token, len(content)):
            code_hash = parts.code.put(files, _entry(files, entry), caller.token.id if caller.token else None)
        return code_answer(code_hash, parts.describing.reading(code_hash))

    return await run_in_threadpool(keep)


@router.get("/code", openapi_extra=needs("code"))
def list_code(parts: PartsOf) -> CodeList:
    """All code that was sent and not deleted, and the studies that run it."""
    using = parts.store.using_code()
    kept = [
        KeptCode(
            hash=code_hash,
            state=_state(reading),
            entry=reading.entry,
            bytes=parts.code.bytes_of(code_hash),
            studies=using.get(code_hash, []),
        )
        for code_hash, reading in parts.code.kept().items()
    ]
    return CodeList(code=kept)


@router.delete("/code/{code_hash}", status_code=204, openapi_extra=needs("code"), responses=refuses(Conflict))
def delete_code(code_hash: CodeHash, parts: PartsOf, caller: CallerOf) -> None:
    """Only what no study runs: 409 names those that do. A token deletes what was sent with it, an admin's any."""
    with parts.tokens.admission():  # no study that names it is made meanwhile
        reading = parts.code.reading(code_hash)
        if reading is None:
            raise NotFound(f"there is no code {code_hash!r}")
        if caller.token and caller.token.id != reading.token and "admin" not in caller.scopes:
            raise Forbidden("this code was sent with another token: its own, or one with the scope 'admin', deletes it")
        if using := parts.store.using_code().get(code_hash):
            message = (
                f"code {code_hash[:12]} is run by {', '.join(using[:5])}{' …' if using[5:] else ''}: delete that first"
            )
            raise Conflict(message, [Detail(path="studies", message=study) for study in using[:MOST_NAMED]])
        parts.describing.forget(code_hash)


@router.get("/code/{code_hash}")
def read_code(code_hash: CodeHash, parts: PartsOf) -> CodeAnswer:
    """What is in it, once Ray has described it."""
    return code_answer(code_hash, parts.describing.reading(code_hash))


@router.get("/code/{code_hash}/content", response_class=FileResponse, responses=answers({BINARY: FILE}))
def read_content(code_hash: CodeHash, parts: PartsOf) -> FileResponse:
    """Its files, as a zip."""
    place = parts.code.content(code_hash)
    if place is None:
        raise NotFound(f"there is no code {code_hash!r}")
    return FileResponse(place, media_type=BINARY, filename=f"{code_hash[:12]}.zip")


@router.get("/studies/{study_id}/code", response_class=FileResponse, responses=answers({BINARY: FILE}))
def read_study_code(study_id: StudyId, parts: PartsOf) -> FileResponse:
    """The files of the code that the study runs, as a zip."""
    with parts.views.read(study_id) as view:
        code = view.study.code
    if code is None:
        raise NotFound(f"study {study_id} has no code of its own")
    return read_content(code.hash, parts)


@router.post(
    "/code/{code_hash}/description",
    status_code=204,
    openapi_extra={**takes({"application/json": ref(CodeReading)}), **needs(DRIVER)},
)
async def describe_code(code_hash: CodeHash, body: Annotated[Body, Depends(_report)], parts: PartsOf) -> None:
    """What the process that reads the code sends; the first word counts."""
    said = await body.parsed(CodeReading)
    await run_in_threadpool(parts.describing.settle, code_hash, said)


def _of_the_folder(files: dict[str, bytes]) -> dict[str, bytes]:
    """Named as within it: what a file manager packs of a folder has the folder's name before all, and a Mac's notes."""
    own = {name: content for name, content in files.items() if not name.startswith("__MACOSX/")}
    packed = {name.partition("/")[0] for name in own} if all("/" in name for name in own) else set()
    return {name.partition("/")[2]: content for name, content in own.items()} if len(packed) == 1 else own


def _entry(files: dict[str, bytes], entry: str | None) -> str:
    """As asked, else the only Python file at the top, else main.py."""
    if entry is not None:
        return entry
    top = [name for name in files if "/" not in name and name.endswith(".py")]
    if len(top) != 1 and "main.py" not in files:
        raise InvalidInput(
            f"entry: say which file is to be imported, the code has {', '.join(sorted(top)[:20]) or 'none'}"
        )
    return top[0] if len(top) == 1 else "main.py"


def _state(reading: Reading) -> CodeState:
    return "refused" if reading.refusal else "described" if reading.problems else "waiting"


def code_answer(code_hash: str, reading: Reading) -> CodeAnswer:
    refusal = reading.refusal
    return CodeAnswer(
        hash=code_hash,
        state=_state(reading),
        entry=reading.entry,
        requirements=reading.requirements,
        problems=[
            OwnProblemAnswer(
                **{
                    **dict(each),
                    "metrics": [OwnMetricAnswer(**dict(metric)) for metric in each.metrics],
                    "parameters": [OwnParameterAnswer(**dict(parameter)) for parameter in each.parameters],
                }
            )
            for each in reading.problems
        ],
        reason=refusal.message if refusal else None,
        file=refusal.file if refusal else None,
        line=refusal.line if refusal else None,
    )
