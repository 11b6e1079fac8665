"""`python -m service`: the service alone, configured by PARETOSCOPE_* variables."""

from __future__ import annotations

import asyncio
import gc
import logging
import socket
import sys
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn

if TYPE_CHECKING:
    from fastapi import FastAPI

    from service.settings import Settings


log = logging.getLogger("paretoscope.service")


class Server(uvicorn.Server):
    """uvicorn that ends open event streams when it is asked to stop, instead of waiting for them."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        app = self.config.app
        parts = getattr(getattr(app, "state", None), "parts", None)
        if parts is not None:
            asyncio.get_running_loop().call_soon_threadsafe(parts.wake.close)
        super().handle_exit(sig, frame)


def _configured() -> tuple[FastAPI, Settings]:
    """Imported here: what is imported stays, and to look for garbage among it would take an eighth of the start."""
    gc.disable()
    from service.app import create_app
    from service.settings import Settings

    gc.freeze()
    gc.enable()
    settings = Settings()
    return create_app(settings), settings


def fresh_app() -> FastAPI:
    """What `make serve` builds anew when the code changes."""
    return _configured()[0]


def _unusable(settings: Settings) -> str | None:
    """Why there can be no store: looked at before anything starts, as uvicorn would print a traceback."""
    from service.contract.wire.errors import ParetoscopeError
    from service.store.sql import SqlStore

    try:
        SqlStore(settings.home, settings.database_url).close()
    except ParetoscopeError as error:
        where = "the database" if settings.database_url else f"the home {settings.home}"
        return f"{where} cannot be used: {error.message}"
    return None


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    app, settings = _configured()
    from service.web.connections import limited

    if settings.is_exposed:
        sys.exit(
            f"{settings.host!r} can be reached by others, and no token is set: "
            "set PARETOSCOPE_TOKEN_PATH or PARETOSCOPE_TOKEN, or listen on 127.0.0.1"
        )
    if problem := _unusable(settings):
        log.error("%s", problem)
        sys.exit(1)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        access_log=False,
        log_level="info",
        timeout_graceful_shutdown=5,
        http=limited(settings.max_connections, settings.header_seconds),
    )
    Server(config).run(None if settings.fd is None else [socket.socket(fileno=settings.fd)])


if __name__ == "__main__":
    main()
