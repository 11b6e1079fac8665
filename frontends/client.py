"""The Python client: `Client().submit(spec).wait().front()`."""

from __future__ import annotations

import io
import json
import os
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

DEFAULT_URL = "http://127.0.0.1:8000"
ENDED = ("finished", "failed", "cancelled")


class ClientError(Exception):
    """The service refused, or cannot be reached; `details` are its own (path, message, perhaps line)."""

    def __init__(self, message: str, status: int = 0, details: list[dict[str, Any]] | None = None) -> None:
        super().__init__(message)
        self.message, self.status, self.details = message, status, details or []


def default_home() -> Path:
    return Path(os.environ.get("PARETOSCOPE_HOME") or Path.home() / ".paretoscope")


def default_url() -> str:
    """PARETOSCOPE_URL, else the service that `paretoscope up` last started in this home, else port 8000."""
    if url := os.environ.get("PARETOSCOPE_URL"):
        return url
    note = default_home() / "service.json"
    return str(json.loads(note.read_text())["url"]) if note.is_file() else DEFAULT_URL


class Client:
    """A connection to a Paretoscope service."""

    def __init__(self, url: str | None = None, token: str | None = None, timeout: float = 60.0) -> None:
        self.url = (url or default_url()).rstrip("/")
        token = token or os.environ.get("PARETOSCOPE_TOKEN")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.Client(base_url=self.url, headers=headers, timeout=timeout, trust_env=False)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def request(self, method: str, path: str, **arguments: Any) -> Any:
        """The answer's JSON."""
        response = self.send(method, path, **arguments)
        return response.json() if response.content else None

    def send(self, method: str, path: str, **arguments: Any) -> httpx.Response:
        """The answer itself; what the service refuses is a ClientError with its words."""
        try:
            response = self._http.request(method, path, **arguments)
        except httpx.HTTPError as error:
            raise ClientError(
                f"no answer from {self.url} ({error}); start it with 'paretoscope up' or give --url"
            ) from error
        if response.is_success:
            return response
        try:
            body = response.json()["error"]
        except (ValueError, KeyError, TypeError):
            raise ClientError(f"{self.url}{path} answered {response.status_code}", response.status_code) from None
        raise ClientError(body["message"], response.status_code, body["details"])

    def submit(self, spec: dict[str, Any] | str | Path, tries: int = 3) -> StudyHandle:
        """A study as a dict, a YAML text or a YAML file. A lost answer is asked for again, never run twice."""
        if isinstance(spec, Path):
            spec = spec.read_text()
        kind, content = ("json", json.dumps(spec)) if isinstance(spec, dict) else ("yaml", spec)
        headers = {"Content-Type": f"application/{kind}", "Idempotency-Key": uuid.uuid4().hex}
        for left in reversed(range(tries)):
            try:
                answer = self.request("POST", "/api/studies", content=content.encode(), headers=headers)
                break
            except ClientError as error:
                if error.status or not left:
                    raise
                time.sleep(0.5)
        return StudyHandle(self, answer["id"])

    def study(self, study_id: str) -> StudyHandle:
        handle = StudyHandle(self, study_id)
        handle.read()
        return handle

    def studies(self, state: str | None = None, limit: int = 50) -> list[dict[str, Any]]:
        params = {"limit": limit, **({"state": state} if state else {})}
        answer: list[dict[str, Any]] = self.request("GET", "/api/studies", params=params)["studies"]
        return answer

    def presets(self) -> list[dict[str, Any]]:
        answer: list[dict[str, Any]] = self.request("GET", "/api/presets")["presets"]
        return answer

    def catalog(self) -> dict[str, Any]:
        answer: dict[str, Any] = self.request("GET", "/api/catalog")
        return answer

    def figures(self) -> list[dict[str, Any]]:
        """Every figure there is: name, title, what it shows."""
        answer: list[dict[str, Any]] = self.request("GET", "/api/figures")["figures"]
        return answer

    def stream(self, path: str, headers: dict[str, str]) -> Any:
        return self._http.stream("GET", path, headers=headers, timeout=httpx.Timeout(60.0))


class StudyHandle:
    """One study on the service."""

    def __init__(self, client: Client, study_id: str) -> None:
        self._client, self.id = client, study_id
        self._path = f"/api/studies/{study_id}"

    @property
    def page(self) -> str:
        return f"{self._client.url}/studies/{self.id}"

    def _get(self, path: str = "", **params: Any) -> dict[str, Any]:
        given = {key: value for key, value in params.items() if value is not None}
        answer: dict[str, Any] = self._client.request("GET", self._path + path, params=given)
        return answer

    def read(self) -> dict[str, Any]:
        return self._get()

    def follow(self, every: float = 0.5, timeout: float | None = None) -> Iterator[dict[str, Any]]:
        """The study's state again and again until it has ended. Outlives a restart of the service of two minutes."""
        begun = last_answer = time.monotonic()
        while True:
            try:
                state = self.read()
                last_answer = time.monotonic()
            except ClientError as error:
                if error.status or time.monotonic() - last_answer > 120:
                    raise
            else:
                yield state
                if state["state"] in ENDED:
                    return
            if timeout is not None and time.monotonic() - begun > timeout:
                raise TimeoutError(f"study {self.id} has not ended after {timeout:g} s")
            time.sleep(every)

    def wait(self, timeout: float | None = None) -> StudyHandle:
        """Until the study has ended; raises ClientError when it failed."""
        for state in self.follow(timeout=timeout):
            if state["state"] == "failed":
                raise ClientError(f"study {self.id} failed: {state['reason']}")
        return self

    def front(self, x: str | None = None, y: str | None = None) -> dict[str, Any]:
        return self._get("/front", x=x, y=y)

    def comparison(self) -> dict[str, Any]:
        return self._get("/comparison")

    def figure(self, name: str, **params: Any) -> go.Figure:
        """A Plotly figure for a notebook, by its name or by any beginning of it that fits one figure only."""
        from frontends.notebook import chosen, notebook_figure

        found = chosen(name, self._client.figures())
        return notebook_figure(self._get(f"/figures/{found['name']}", **params), found["title"])

    def export(self, format: str = "csv", table: str = "trials") -> bytes:
        """The trials or the reports as csv or parquet, or everything as json."""
        params = {"format": format, "table": table}
        return self._client.send("GET", self._path + "/export", params=params).content

    def trials_frame(self, table: str = "trials") -> pd.DataFrame:
        """A row per trial (or per report), typed; needs pandas."""
        try:
            import pandas
        except ImportError as error:
            raise ClientError("trials_frame needs pandas: install it, or take export('csv')") from error
        return pandas.read_parquet(io.BytesIO(self.export("parquet", table)))

    def report(self) -> str:
        """One self-contained HTML file."""
        return self._client.send("GET", self._path + "/report").text

    def methods(self) -> dict[str, Any]:
        """A methods paragraph, its BibTeX, and what each paper is for."""
        return self._get("/methods")

    def trials(self, **params: Any) -> list[dict[str, Any]]:
        """All trials that match, page by page."""
        found: list[dict[str, Any]] = []
        after: str | None = None
        while True:
            page = self._get("/trials", limit=1000, after=after, **params)
            found += page["trials"]
            after = page["next"]
            if after is None:
                return found

    def trial(self, trial_id: str) -> dict[str, Any]:
        return self._get(f"/trials/{trial_id}")

    def checkpoint(self, trial_id: str) -> bytes:
        """A trial's trained weights: `safetensors.torch.load(study.checkpoint(trial_id))`."""
        return self._client.send("GET", f"{self._path}/trials/{trial_id}/checkpoint").content

    def events(self, after: int = 0) -> Iterator[dict[str, Any]]:
        """The study's events, live, until it has ended."""
        with self._client.stream(self._path + "/events", {"Last-Event-ID": str(after)}) as response:
            for line in response.iter_lines():
                if line.startswith("data: "):
                    yield json.loads(line[6:])

    def cancel(self) -> dict[str, Any]:
        answer: dict[str, Any] = self._client.request("POST", self._path + "/cancel")
        return answer

    def delete(self) -> None:
        self._client.request("DELETE", self._path)
