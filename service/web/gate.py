"""What every request passes and every answer carries, before and after any route."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from paretoscope import __version__
from service.contract.wire.answers.health import INSTANCE
from service.contract.wire.errors import Forbidden
from service.contract.wire.versions import VERSION
from service.settings import Settings
from service.web.audit import Audit
from service.web.doorkeeper import Caller
from service.web.errors import error_answer
from service.web.hosts import WRITES, refused_host, refused_origin
from service.web.policies import CLOSED, POLICY

HEADERS = {
    POLICY: CLOSED,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def _write_down(audit: Audit, scope: Scope, status: int) -> None:
    caller: Caller | None = scope.get("state", {}).get("caller")
    address = scope["client"][0] if scope.get("client") else "nowhere"
    audit.wrote(caller.name if caller else "nobody", address, scope["method"], scope["path"], status)


class Gate:
    """Turns away what a stranger's page could have sent; tells browsers what an answer may do."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        parts = scope["app"].state.parts

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                if scope["method"] in WRITES:
                    _write_down(parts.audit, scope, message["status"])
                headers = MutableHeaders(scope=message)
                headers[INSTANCE], headers[VERSION] = parts.instance, __version__
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        settings: Settings = parts.settings
        headers, known = Headers(scope=scope), settings.known_hosts
        refusal = refused_host(headers, known) or refused_origin(scope["method"], headers, known)
        if refusal is not None:
            error = Forbidden(refusal)
            await error_answer(error.public(), error.status)(scope, receive, with_headers)
            return
        await self._app(scope, receive, with_headers)
