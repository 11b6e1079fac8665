"""Who may use the API: whoever has the token, where one is set."""

from __future__ import annotations

import hmac

from fastapi import Request

from service.contract.wire.errors import Unauthorized
from service.settings import Settings

COOKIE = "paretoscope_token"


def authorize(request: Request) -> None:
    """A bearer token, or the cookie the page sets (EventSource cannot send headers)."""
    settings: Settings = request.app.state.parts.settings
    if settings.token is None:
        return
    given = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
    given = given or request.cookies.get(COOKIE, "")
    if not hmac.compare_digest(given.encode(), settings.token.encode()):
        raise Unauthorized("this service needs its token: 'Authorization: Bearer …' (PARETOSCOPE_TOKEN)")
