"""The service in the test's own process, around a cluster that does what the test says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from fastapi import FastAPI

from service.app import create_app
from service.contract.wire.errors import Conflict, Unavailable
from service.contract.wire.events import StudyStarted, StudyState
from service.launching.jobs import JobStatus
from service.routes.dependencies import Parts
from service.settings import Settings

SPEC: dict[str, Any] = {
    "name": "s",
    "seeds": [0],
    "training": {"epochs": 1},
    "arms": [{"name": "a", "weighting": {"name": "fixed", "beta": {"grid": [0.1, 1.0]}}}],
}


class Submitted(NamedTuple):
    job: str
    entrypoint: str
    env: dict[str, str]


class Cluster:
    """Jobs run until a test ends them. `meanwhile` happens whenever the cluster is asked for a status or for life."""

    url = "http://ray:8265"

    def __init__(self) -> None:
        self.jobs: dict[str, JobStatus] = {}
        self.submitted: list[Submitted] = []
        self.stopped: list[str] = []
        self.listed = 0
        self.answers = True
        self.error: Exception | None = None
        self.meanwhile: Callable[[], None] = lambda: None

    def alive(self) -> bool:
        self.meanwhile()
        return self.answers

    def live(self) -> set[str]:
        self._ask()
        self.listed += 1
        return {job for job, status in self.jobs.items() if not status.is_ended()}

    def status(self, submission_id: str) -> JobStatus | None:
        self._ask()
        self.meanwhile()
        return self.jobs.get(submission_id)

    def submit(self, submission_id: str, entrypoint: str, env: Mapping[str, str] | None = None) -> None:
        self._ask()
        if submission_id in self.jobs:
            raise Conflict(f"there is a job {submission_id}")
        self.jobs[submission_id] = JobStatus("RUNNING", None)
        self.submitted.append(Submitted(submission_id, entrypoint, dict(env or {})))

    def stop(self, submission_id: str) -> bool:
        self._ask()
        self.stopped.append(submission_id)
        return True

    def end(self, job: str, status: str = "FAILED", message: str | None = "it died") -> None:
        self.jobs[job] = JobStatus(status, message)

    def started(self) -> list[str]:
        return [each.job for each in self.submitted]

    def _ask(self) -> None:
        if self.error is not None:
            raise self.error
        if not self.answers:
            raise Unavailable(f"Ray at {self.url} cannot be reached")


@cache
def _app() -> FastAPI:
    """One for all benches, which takes a moment to build; each puts its own parts into it."""
    return create_app(Settings())


class Bench:
    """The service as an app without its threads: asked over HTTP, its launcher ticked by hand."""

    def __init__(self, home: Path, cluster: Cluster | None = None, **settings: Any) -> None:
        self.cluster = cluster or Cluster()
        unhurried = {"submissions_per_minute": 1_000_000, "wrong_tokens_per_minute": 1_000_000}
        self.settings = Settings(home=home, **{**unhurried, **settings})
        self.parts = Parts(self.settings, self.cluster)
        self.launcher = self.parts.launcher
        self.app = _app()

    def ask(self, method: str, path: str, raise_errors: bool = True, **arguments: Any) -> httpx.Response:
        """With the token, unless `headers` are given."""
        token = self.settings.token
        arguments.setdefault("headers", {"Authorization": f"Bearer {token}"} if token else {})

        async def answer() -> httpx.Response:
            self.app.state.parts = self.parts
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=raise_errors)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
                return await http.request(method, path, **arguments)

        return asyncio.run(answer())

    def get(self, path: str, **params: Any) -> Any:
        """The JSON of an answer that must be there."""
        answer = self.ask("GET", path, params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def submit(self, **spec: Any) -> str:
        answer = self.ask("POST", "/api/studies", json={**SPEC, **spec})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def read(self, study: str) -> dict[str, Any]:
        return dict(self.get(f"/api/studies/{study}"))

    def state(self, study: str) -> str:
        return str(self.read(study)["state"])

    def trials(self, study: str) -> list[str]:
        return [trial["id"] for trial in self.get(f"/api/studies/{study}/trials")["trials"]]

    def report(self, study: str, *events: dict[str, Any]) -> dict[str, Any]:
        """Of a study that is started first if it waits."""
        if self.parts.store.study(study).state is StudyState.QUEUED and events[0]["kind"] != "study_started":
            self.parts.store.append(study, [StudyStarted(uid="bench:started")])
        answer = self.send(study, *events)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def send(self, study: str, *events: dict[str, Any]) -> httpx.Response:
        return self.ask("POST", f"/api/studies/{study}/reports", json={"events": list(events)})

    def finish_trial(self, study: str, number: int) -> None:
        trial = self.trials(study)[number]
        self.report(study, {"uid": f"{trial}:finished", "kind": "trial_finished", "trial": trial})

    def finish(self, study: str) -> None:
        self.report(study, {"uid": "end", "kind": "study_finished"})

    def cancel(self, study: str) -> httpx.Response:
        return self.ask("POST", f"/api/studies/{study}/cancel")

    def delete(self, study: str) -> httpx.Response:
        return self.ask("DELETE", f"/api/studies/{study}")

    def kinds(self, study: str) -> list[str]:
        return [event["kind"] for event in self.events(study)]

    def events(self, study: str) -> list[dict[str, Any]]:
        """All that the log has, read from the store: only an ended study's stream ends by itself."""
        return [event.public() for event in self.parts.store.read(study, after=0)]

    def stream(self, study: str, headers: dict[str, str] | None = None, **params: Any) -> list[dict[str, Any]]:
        """The stream of a study that has ended, event by event."""
        answer = self.ask("GET", f"/api/studies/{study}/events", headers=headers or {}, params=params)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"].startswith("text/event-stream")
        blocks = [block.splitlines() for block in answer.text.split("\n\n") if block.startswith("id: ")]
        events = [json.loads(data.removeprefix("data: ")) for _, _, data in blocks]
        assert [(i, k) for i, k, _ in blocks] == [(f"id: {e['seq']}", f"event: {e['kind']}") for e in events]
        return events

    def close(self) -> None:
        self.parts.store.close()
