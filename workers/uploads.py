"""Files of trials on their way to the service: tried for a bounded time, and never an error of the training."""

from __future__ import annotations

import logging
import time
from types import TracebackType

import httpx

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 60.0  # without one answer; a service that was started again is back long before
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
OVER = {httpx.codes.NOT_FOUND, httpx.codes.CONFLICT}


class Uploads:
    """One connection for all files of a cohort. After `given_up` nothing more is tried."""

    def __init__(
        self, url: str, token: str | None, study_id: str, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.given_up = False
        self._study = study_id
        self._client = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=httpx.Timeout(30.0, connect=5.0),
            trust_env=False,
            transport=transport,
        )

    def put(self, trial: str, name: str, content: bytes) -> bool:
        """Whether the service has the file now; when not, the log says why."""
        path = f"/api/studies/{self._study}/trials/{trial}/artifacts/{name}"
        patience, pause = time.monotonic() + PATIENCE_SECONDS, FIRST_PAUSE
        while not self.given_up:
            try:
                answer = self._client.put(path, content=content)
                trouble = f"status {answer.status_code}"
                if answer.is_success:
                    return True
                if answer.status_code in OVER:
                    log.info("the service wants no more files: %s", answer.text[:300])
                    self.given_up = True
                elif answer.is_client_error:
                    log.warning("%s of trial %s was refused: %s", name, trial, answer.text[:300])
                    return False
            except httpx.HTTPError as error:
                trouble = str(error) or type(error).__name__
            if not self.given_up and time.monotonic() + pause > patience:
                log.warning(
                    "no files for the service at %s, tried for %g s: %s",
                    self._client.base_url,
                    PATIENCE_SECONDS,
                    trouble,
                )
                self.given_up = True
            elif not self.given_up:
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
        return False

    def __enter__(self) -> Uploads:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()
