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

    from service.routes.dependencies import Parts
    from service.settings import Settings


log = logging.getLogger("paretoscope.service")


class Server(uvicorn.Server):
    """uvicorn that ends open event streams when it is asked to stop, instead of waiting for them.

    Where Ray ends with the service it goes on answering until drivers have left; asked twice, it stops at once.
    """

    _leaving = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        app = self.config.app
        parts: Parts | None = getattr(getattr(app, "state", None), "parts", None)
        loop = asyncio.get_running_loop()
        if parts is None or parts.jobs is None or self._leaving or not parts.settings.leave_seconds:
            self._stop(sig, parts, loop)
            return
        from service.launching.leaving import Leaving

        self._leaving = True

        def stop() -> None:
            loop.call_soon_threadsafe(self._stop, sig, parts, loop)

        Leaving(parts.launcher, parts.jobs, parts.settings.leave_seconds, stop).start()

    def _stop(self, sig: int, parts: Parts | None, loop: asyncio.AbstractEventLoop) -> None:
        if parts is not None:
            loop.call_soon_threadsafe(parts.wake.close)
        super().handle_exit(sig, None)


def _configured() -> tuple[FastAPI, Settings]:
    """Imported here: what is imported stays, and to look for garbage among it would take an eighth of the start."""
    gc.disable()
    from service.app import create_app

    gc.freeze()
    gc.enable()
    settings = _settings()
    return create_app(settings), settings


def _settings() -> Settings:
    """From the environment; ends the process with a line for each variable that breaks a rule."""
    from pydantic import ValidationError

    from service.contract.wire.exits import BAD_SETTINGS
    from service.settings import Settings, in_words

    try:
        return Settings()
    except ValidationError as error:
        sys.stderr.write("".join(f"{words}\n" for words in in_words(error)))
        sys.exit(BAD_SETTINGS)


def fresh_app() -> FastAPI:
    """What `make serve` builds anew when the code changes."""
    return _configured()[0]


def _check_store(settings: Settings) -> None:
    """Ends the process when there can be no store: looked at before anything starts, as uvicorn would print a
    traceback. The code says whether it is a database that may answer later, or a disk that may have room again."""
    from service.contract.wire.errors import NoSpace, ParetoscopeError, Unavailable
    from service.contract.wire.exits import STORE_AWAY
    from service.store.sql import SqlStore

    try:
        SqlStore(settings.home, settings.database_url).close()
    except ParetoscopeError as error:
        where = "the database" if settings.database_url else f"the home {settings.home}"
        log.error("%s cannot be used: %s", where, error.message)
        away = isinstance(error, NoSpace) or (settings.database_url and isinstance(error, Unavailable))
        sys.exit(STORE_AWAY if away else 1)


def main() -> None:
    app, settings = _configured()
    from service.contract.wire.log_lines import log_to_stderr
    from service.web.connections import limited

    log_to_stderr(settings.log_format)

    if settings.rule_of_token is not None:
        sys.exit(settings.rule_of_token)
    if settings.is_exposed:
        sys.exit(
            f"{settings.host!r} can be reached by others, and no token is set: "
            "set PARETOSCOPE_TOKEN_PATH or PARETOSCOPE_TOKEN, or listen on 127.0.0.1"
        )
    _check_store(settings)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        access_log=False,
        log_config=None,  # its lines go where ours go
        log_level="info",
        timeout_graceful_shutdown=5,
        http=limited(settings.max_connections, settings.header_seconds, settings.answer_seconds),
    )
    Server(config).run(None if settings.fd is None else [_opened(settings.fd)])


def _opened(fd: int) -> socket.socket:
    try:
        return socket.socket(fileno=fd)
    except OSError as error:
        sys.exit(f"PARETOSCOPE_FD: must be an open socket, got {fd}: {error.strerror}")


if __name__ == "__main__":
    main()
