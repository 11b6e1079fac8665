"""The code that a study names, by its hash: looked up, so that nobody has to be believed what is in it."""

from __future__ import annotations

import re

from service.contract.study.parsing import Written
from service.contract.study.study import Study
from service.contract.wire.errors import Detail, Forbidden, InvalidInput
from service.launching.packaged import ENTRY, PREFIX, files_of
from service.routes.dependencies import Parts
from service.web.doorkeeper import Caller

HASH = re.compile("[0-9a-f]{64}")


def with_known_code(written: Written, parts: Parts, caller: Caller) -> Written:
    """The study with what Ray found in its code, in place of its hash; as it is where it names none."""
    named = written.body.get("code") if isinstance(written.body, dict) else None
    if named is None:
        return written
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
    code = parts.describing.code(given)
    return written._replace(body={**written.body, "code": code})  # no text that was written: its words may have lines


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
