"""A service that is asked to stop does so at once, though somebody still follows a study."""

from __future__ import annotations

import signal
import threading
from typing import Any

import httpx

from tests.processes import service_alone, short_home
from tests.service.routes.test_http import submit


def test_open_streams_end_when_the_service_is_asked_to_stop(spec: dict[str, Any]) -> None:
    with short_home() as home, service_alone(home) as service:
        study = submit(service, spec)["id"]  # without Ray it waits for ever, and so does its stream
        begun = threading.Event()
        lines: list[str] = []

        def follow() -> None:
            url = f"{service.url}/api/studies/{study}/events"
            with httpx.stream("GET", url, timeout=60, trust_env=False) as answer:
                for line in answer.iter_lines():
                    lines.append(line)
                    begun.set()

        follower = threading.Thread(target=follow)
        follower.start()
        assert begun.wait(30)
        service.process.terminate()
        follower.join(timeout=30)
        assert not follower.is_alive() and "event: study_queued" in lines
        assert service.process.wait(timeout=30) == -signal.SIGTERM  # uvicorn passes on what stopped it
        log = service.log()
        assert "Traceback" not in log and "graceful shutdown exceeded" not in log
