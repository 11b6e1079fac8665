"""The few calls of Ray's Jobs REST API that the launcher needs, without importing Ray."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError

from service.contract.wire.errors import Conflict, Unavailable
from service.launching.jobs import ENDED, JobStatus

# Ray looks for its agent for up to 10 s before it turns a submission away.
TIMEOUT = httpx.Timeout(30.0, connect=3.0)
ALIVE_TIMEOUT = httpx.Timeout(3.0)


class RayJob(BaseModel):
    """A job as Ray tells of it; one that a driver started without the Jobs API has no submission id."""

    submission_id: str | None = None
    status: str
    message: str | None = None


class Submitted(BaseModel):
    """A job was taken; its id is the one that was asked for."""


class Stopped(BaseModel):
    stopped: bool


class Deleted(BaseModel):
    deleted: bool


class Logs(BaseModel):
    logs: str


Said = TypeVar("Said")
STATUS, SUBMITTED, STOPPED = TypeAdapter(RayJob), TypeAdapter(Submitted), TypeAdapter(Stopped)
JOBS, DELETED, LOGS = TypeAdapter(list[RayJob]), TypeAdapter(Deleted), TypeAdapter(Logs)


class RayJobs:
    """A client of one Ray cluster. Safe to share between threads; close it, or use it in a `with`."""

    def __init__(self, url: str, token: str | None = None, transport: httpx.BaseTransport | None = None) -> None:
        self.url = url.rstrip("/")
        self._client = httpx.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=TIMEOUT,
            trust_env=False,  # a proxy for the internet must not see Ray's token
            transport=transport,
        )

    def submit(
        self,
        submission_id: str,
        entrypoint: str,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Start a job. A submission id is used once in the life of a cluster: Conflict when it is taken."""
        environment: dict[str, object] = {"env_vars": dict(env)} if env else {}
        body = {"submission_id": submission_id, "entrypoint": entrypoint, "runtime_env": environment}
        answer = self._call("POST", "/api/jobs/", json=body)
        if answer.is_error and "already exists" in answer.text:
            raise Conflict(f"Ray at {self.url} already has a job {submission_id}")
        self._read(answer, SUBMITTED, f"submit {submission_id}")

    def status(self, submission_id: str) -> JobStatus | None:
        """None when Ray does not know the job."""
        answer = self._call("GET", self._path(submission_id))
        if answer.status_code == httpx.codes.NOT_FOUND:
            return None
        job = self._read(answer, STATUS, f"tell the status of {submission_id}")
        return JobStatus(job.status, job.message)

    def live(self) -> set[str]:
        """The submission ids of all jobs that have not ended."""
        answer = self._call("GET", "/api/jobs/")
        jobs = self._read(answer, JOBS, "list its jobs")
        return {job.submission_id for job in jobs if job.submission_id and job.status not in ENDED}

    def stop(self, submission_id: str) -> bool:
        """Ask Ray to end the job (SIGTERM, then SIGKILL) without waiting. False when there is nothing to stop."""
        answer = self._call("POST", self._path(submission_id, "/stop"))
        if answer.status_code == httpx.codes.NOT_FOUND:
            return False
        return self._read(answer, STOPPED, f"stop {submission_id}").stopped

    def delete(self, submission_id: str) -> bool:
        """Forget an ended job; False when Ray does not know it. Conflict while it runs."""
        answer = self._call("DELETE", self._path(submission_id))
        if answer.status_code == httpx.codes.NOT_FOUND:
            return False
        if answer.is_error and "terminal state" in answer.text:
            raise Conflict(f"job {submission_id} still runs on Ray at {self.url}")
        return self._read(answer, DELETED, f"delete {submission_id}").deleted

    def logs(self, submission_id: str, tail: int = 50) -> str:
        """The last lines of what the job printed; empty when there is nothing."""
        answer = self._call("GET", self._path(submission_id, "/logs"))
        if answer.status_code == httpx.codes.NOT_FOUND:
            return ""
        text = self._read(answer, LOGS, f"give the logs of {submission_id}").logs
        return "\n".join(text.splitlines()[-tail:]) if tail > 0 else ""

    def alive(self) -> bool:
        """Whether Ray answers and takes our token."""
        try:
            return self._call("GET", "/api/version", timeout=ALIVE_TIMEOUT).is_success
        except Unavailable:
            return False

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> RayJobs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @staticmethod
    def _path(submission_id: str, rest: str = "") -> str:
        return f"/api/jobs/{quote(submission_id, safe='')}{rest}"

    def _call(self, method: str, path: str, **kwargs: Any) -> httpx.Response:
        try:
            return self._client.request(method, path, **kwargs)
        except httpx.HTTPError as error:
            raise Unavailable(f"Ray at {self.url} cannot be reached: {error or type(error).__name__}") from error

    def _read(self, answer: httpx.Response, kind: TypeAdapter[Said], what: str) -> Said:
        if answer.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            raise Unavailable(f"Ray at {self.url} refuses our token ({answer.status_code})")
        try:
            if answer.is_success:
                return kind.validate_json(answer.content)
        except ValidationError:
            pass  # a page of a proxy, or another Ray than ours
        said = answer.text.strip().splitlines()[-1:] or ["nothing"]
        raise Unavailable(f"Ray at {self.url} could not {what} ({answer.status_code}): {said[0][:500]}")
