"""The code that a study names, by its hash: looked up, so that nobody has to be believed what is in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import nullcontext

from service.contract.packages.requirements import FILE, asked_for, joined
from service.contract.study.parsing import Written
from service.contract.study.study import Study
from service.contract.wire.errors import Detail, Forbidden, InvalidInput, TooManyRequests
from service.launching.packaged import ENTRY, PREFIX, files_of
from service.routes.dependencies import Parts
from service.store.code import hash_of
from service.web.doorkeeper import Caller

HASH = re.compile("[0-9a-f]{64}")


def with_known_code(source: Written, parts: Parts, caller: Caller, keeps: bool = True) -> Written:
    """The study with what Ray found in its code, in place of its hash; as it is where it names none.

    Packages that the study asks for become part of its code. Without `keeps` that is not made where it is new.
    """
    named = source.body.get("code") if isinstance(source.body, dict) else None
    if named is None:
        return source
    if "code" not in caller.scopes:
        raise Forbidden(_why_not(parts))
    given = named.get("hash") if isinstance(named, dict) else named
    if isinstance(given, str) and given.startswith(PREFIX):
        given = parts.code.put(files_of(given.removeprefix(PREFIX)), ENTRY)
    if not isinstance(given, str) or not HASH.fullmatch(given):
        rule = f"must be the hash of code that was sent with POST /api/code, got {str(given)[:80]!r}"
        more = "; 'paretoscope submit' and Client().submit send a file or folder by its path"
        more += f"; an installed package is named {PREFIX}NAME"
        raise InvalidInput(f"code: {rule}{more}", [Detail(path="code", message=rule + more)])
    if asked := asked_for(source.body.get("requirements")):
        given = _with_packages(given, asked, parts, caller, keeps)
    code = parts.describing.code(given)
    body = {key: value for key, value in source.body.items() if key != "requirements" or not asked}
    return source._replace(body={**body, "code": code})  # no text that was written: its words may have lines


def _with_packages(given: str, asked: Sequence[str], parts: Parts, caller: Caller, keeps: bool) -> str:
    """The hash of the same code that also asks for these packages; read anew, as it may not be read without them."""
    reading, files = parts.code.reading(given), parts.code.files(given)
    if reading is None or not files:
        return given
    files |= {FILE: joined(files.get(FILE, b""), asked)}
    own = hash_of(files, reading.entry)
    if parts.code.content(own) is not None:
        return own
    if not keeps:
        return given
    if wait := parts.code_sent.take_permit(caller.name):
        raise TooManyRequests("code was sent too often with this token", wait)
    admission = parts.tokens.admission() if caller.token else nullcontext()
    with admission, parts.room.for_code(caller.token, sum(map(len, files.values()))):
        return parts.code.put(files, reading.entry, caller.token.id if caller.token else None)


def check_still_there(parts: Parts, study: Study) -> None:
    """Code may have been deleted since it was looked up; the caller holds `tokens.admission()`."""
    if study.code is not None and parts.code.content(study.code.hash) is None:
        rule = f"there is no code {study.code.hash!r}: send it with POST /api/code"
        raise InvalidInput(f"code: {rule}", [Detail(path="code", message=rule)])


def check_scope(parts: Parts, caller: Caller, study_id: str) -> None:
    """What lets a study go on that runs code of its own needs the scope for it."""
    with parts.views.read(study_id) as view:
        has_code = view.study.code is not None
    if has_code and "code" not in caller.scopes:
        raise Forbidden(_why_not(parts))


def _why_not(parts: Parts) -> str:
    if parts.settings.token is None:
        return "a service without tokens runs nobody's code: start it with its token, or with --allow-code on loopback"
    return "a study with code of its own needs a token with the scope 'code'"
