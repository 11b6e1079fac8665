"""A browser that has the token: kept as a cookie that no script can read."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from service.web.auth import given_token, remember
from service.web.openapi import Route
from service.web.scopes import needs

router = APIRouter(tags=["session"], route_class=Route)


@router.post("/session", status_code=204, openapi_extra=needs("read"))
def sign_in(request: Request) -> Response:
    """The token of this request becomes a cookie, for pages and streams, which cannot send it themselves."""
    return remember(request, Response(status_code=204), given_token(request))
