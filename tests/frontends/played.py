"""Studies whose events are posted by the test: no Ray is needed to see them run, finish or fail."""

from __future__ import annotations

from typing import Any

import httpx

from tests.frontends.unreliable import Fault, Unreliable
from tests.processes import Running


def begin(service: Running, spec: dict[str, Any], end: bool) -> str:
    """Every trial of a study has reported; they finish, and the study with them, only if asked."""
    study = str(service.post("/api/studies", json={**spec, "name": "seen"}).json()["id"])
    trials = service.get(f"/api/studies/{study}/trials").json()["trials"]
    events: list[dict[str, Any]] = [{"kind": "study_started"}]
    for i, trial in enumerate(trials):
        metrics = {"epoch": 3, "seconds": 1.0, "i_xz_bits": 10.0 - i, "i_zy_bits": 3.0 - i / 10}
        events.append({"kind": "report", "trial": trial["id"], "metrics": metrics})
        events += [{"kind": "trial_finished", "trial": trial["id"]}] if end else []
    send(service, study, *events, *([{"kind": "study_finished"}] if end else []))
    return study


def send(service: Running, study: str, *events: dict[str, Any]) -> None:
    sent = [{"uid": str(event), **event} for event in events]
    service.post(f"/api/studies/{study}/reports", json={"events": sent}).raise_for_status()


class Playing(Unreliable):
    """Sends an event to the study just before the third request."""

    def __init__(self, service: Running, study: str, event: dict[str, Any], *faults: Fault) -> None:
        super().__init__(*faults)
        self._service, self._study, self._event = service, study, event

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if len(self.requests) == 2:
            send(self._service, self._study, self._event)
        return super().handle_request(request)
