"""`python -m service`: the service alone, configured by PARETOSCOPE_* variables."""

from __future__ import annotations

import asyncio
import logging
from types import FrameType

import uvicorn
from fastapi import FastAPI

from service.app import create_app
from service.settings import Settings


class Server(uvicorn.Server):
    """uvicorn that ends open event streams when it is asked to stop, instead of waiting for them."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        app = self.config.app
        parts = getattr(getattr(app, "state", None), "parts", None)
        if parts is not None:
            asyncio.get_running_loop().call_soon_threadsafe(parts.wake.close)
        super().handle_exit(sig, frame)


def fresh_app() -> FastAPI:
    """What `make serve` builds anew when the code changes."""
    return create_app(Settings())


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    settings = Settings()
    config = uvicorn.Config(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        access_log=False,
        log_level="info",
        timeout_graceful_shutdown=5,
    )
    Server(config).run()


if __name__ == "__main__":
    main()
