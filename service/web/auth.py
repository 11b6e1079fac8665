"""Authorisation of a request: its token, the scope that its route needs, and the study that it is about."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import Response

from paretoscope import __version__
from service.contract.wire.errors import Forbidden, OtherVersion
from service.contract.wire.versions import VERSION, disagreement
from service.store.tokens import subject
from service.web.doorkeeper import Caller, Doorkeeper
from service.web.scopes import scope_of

COOKIE = "paretoscope_token"
A_YEAR = 31_536_000


def given_token(request: Request) -> str:
    """A bearer token, else the cookie of the page (EventSource cannot send headers); empty where there is neither."""
    given = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
    return given or request.cookies.get(COOKIE, "")


def address_of(request: Request) -> str:
    return request.client.host if request.client else "nowhere"


def authorize(request: Request) -> None:
    """Before anything of the body is read. Who it was stays with the request."""
    keeper: Doorkeeper = request.app.state.parts.doorkeeper
    caller = keeper.admit(given_token(request), address_of(request))
    request.state.caller = caller
    _check_version(request, caller, is_guarded=keeper.is_guarded)
    scope = scope_of(request.scope["route"])
    if scope not in caller.scopes:
        own = ", ".join(sorted(caller.scopes))
        raise Forbidden(f"this needs a token with the scope {scope!r}; this one has: {own}")
    if caller.study is not None:
        _check_study(request, caller.study)


def _check_version(request: Request, caller: Caller, is_guarded: bool) -> None:
    """Of whoever says one: curl and generated clients do not, and are answered. A study tells it of its own driver."""
    said = request.headers.get(VERSION)
    refused = None if said is None else disagreement(__version__, said)
    if refused is None:
        return
    asked = request.path_params.get("study_id")
    if refused.sender == "driver" and asked and (caller.study == asked or not is_guarded):
        request.app.state.parts.launcher.driver_was_refused(asked, refused.words)
    raise OtherVersion(refused.words)


def caller_of(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


def _check_study(request: Request, study: str) -> None:
    """A driver's token is for one study, or for the code that it reads, also where others could be asked for beside."""
    asked = subject(request.path_params.get("study_id") or request.path_params.get("code_hash") or "")
    if asked != study or "studies" in request.query_params:
        raise Forbidden(f"this token is for {study} alone")


def remember(request: Request, response: Response, token: str) -> Response:
    """Keeps the token with the browser, out of reach of scripts and of other sites."""
    secure = request.url.scheme == "https"
    response.set_cookie(COOKIE, token, max_age=A_YEAR, path="/", httponly=True, samesite="strict", secure=secure)
    return response
