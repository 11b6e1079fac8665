"""Files of trials on their way to the service: never an error of the training."""

from __future__ import annotations

import logging

from service.contract.wire.errors import Conflict, NotFound, ParetoscopeError, Unavailable
from workers.sending.study_client import StudyClient

log = logging.getLogger(__name__)


class Uploads:
    """All files of a cohort. After `given_up` nothing more is tried."""

    def __init__(self, client: StudyClient) -> None:
        self.given_up = False
        self._client = client

    def put(self, trial: str, name: str, content: bytes) -> bool:
        """Whether the service has the file now; when not, the log says why."""
        if self.given_up:
            return False
        try:
            self._client.upload(trial, name, content)
            return True
        except (NotFound, Conflict) as error:
            log.info("the service wants no more files: %s", error.message)
            self.given_up = True
        except Unavailable as error:
            log.warning("no files for the service: %s", error.message)
            self.given_up = True
        except ParetoscopeError as error:
            log.warning("%s of trial %s was refused: %s", name, trial, error.message)
        return False
