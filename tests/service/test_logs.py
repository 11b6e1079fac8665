"""The service's own log: one object a line, with study, trial and job."""

from __future__ import annotations

import json
from typing import Any

from tests.processes import Running, service_alone, short_home
from tests.service.routes.test_http import submit


def told(service: Running, spec: dict[str, Any]) -> tuple[str, str]:
    """A study one of whose trials has failed."""
    study = submit(service, spec)["id"]
    trial = service.get(f"/api/studies/{study}/trials").json()["trials"][0]["id"]
    events = [
        {"uid": "1", "kind": "study_started", "job": f"{study}-7"},
        {"uid": "2", "kind": "trial_failed", "trial": trial, "reason": "it broke"},
        {"uid": "3", "kind": "study_finished"},
    ]
    answer = service.post(f"/api/studies/{study}/reports", json={"events": events[:1]})
    assert answer.is_success, answer.text
    service.post(f"/api/studies/{study}/reports", json={"events": events[1:], "job": f"{study}-7"})
    return study, trial


def test_every_line_is_an_object_and_says_what_it_is_about(spec: dict[str, Any]) -> None:
    with short_home() as home, service_alone(home) as service:
        study, trial = told(service, spec)
        service.process.terminate()
        service.process.wait(timeout=60)
        lines = [json.loads(line) for line in service.log().splitlines()]
    assert all({"time", "level", "logger", "message"} <= line.keys() for line in lines)
    assert {line["logger"].partition(".")[0] for line in lines} >= {"uvicorn", "paretoscope"}
    [failed] = [line for line in lines if line.get("trial")]
    assert failed["message"] == "trial failed: it broke"
    assert (failed["study"], failed["trial"], failed["job"], failed["level"]) == (study, trial, f"{study}-7", "warning")
    said = [line["message"] for line in lines if line.get("study") == study]
    assert said == ["study queued", "study started", "trial failed: it broke", "study finished"]


def test_text_is_a_setting(spec: dict[str, Any]) -> None:
    with short_home() as home, service_alone(home, PARETOSCOPE_LOG_FORMAT="text") as service:
        told(service, spec)
        log = service.log()
    assert "WARNING paretoscope.studies: trial failed: it broke" in log and "{" not in log
