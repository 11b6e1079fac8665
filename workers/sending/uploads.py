"""Files of trials on their way to the service: never an error of the training, and never lost without a word."""

from __future__ import annotations

import logging

from service.contract.wire.errors import Conflict, NotFound, ParetoscopeError
from workers.sending.study_client import StudyClient

log = logging.getLogger(__name__)


class Uploads:
    """All files of a cohort. A service that is away is waited for: a trial has finished when its files are there.

    After `given_up` nothing more is tried: the study takes no more files.
    """

    def __init__(self, client: StudyClient) -> None:
        self.given_up: str | None = None
        self._client = client

    def put(self, trial: str, name: str, content: bytes) -> str | None:
        """None when the service has the file now, else why it has not."""
        if self.given_up:
            return self.given_up
        try:
            self._client.upload(trial, name, content)
            return None
        except (NotFound, Conflict) as error:
            log.info("the service wants no more files: %s", error.message)
            self.given_up = f"{name} was not wanted any more: {error.message}"
            return self.given_up
        except ParetoscopeError as error:
            log.warning("%s of trial %s was refused: %s", name, trial, error.message)
            return f"{name} was refused: {error.message}"
