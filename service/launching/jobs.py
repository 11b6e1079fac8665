"""What the launcher asks of a cluster: Ray's Jobs API behind a protocol, so that a test can stand in for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

ENDED = frozenset({"SUCCEEDED", "FAILED", "STOPPED"})


class JobStatus(NamedTuple):
    """PENDING, RUNNING, STOPPED, SUCCEEDED or FAILED, and what Ray says about it."""

    status: str
    message: str | None

    def is_ended(self) -> bool:
        return self.status in ENDED


class Jobs(Protocol):
    """The jobs of one cluster. Every call may raise Unavailable; `alive` never does."""

    @property
    def url(self) -> str: ...

    def alive(self) -> bool:
        """Whether the cluster answers and takes our token."""
        ...

    def live(self) -> set[str]:
        """The submission ids of all jobs that have not ended."""
        ...

    def status(self, submission_id: str) -> JobStatus | None:
        """None when the cluster does not know the job."""
        ...

    def submit(self, submission_id: str, entrypoint: str, env: Mapping[str, str] | None = None) -> None:
        """Start a job; Conflict when its id is taken."""
        ...

    def stop(self, submission_id: str) -> bool:
        """Ask for the job to be ended, without waiting. False when there is nothing to stop."""
        ...
