"""How a driver gets the token of its study: never in an environment, a command line or a log, which others can read."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path

from service.contract.wire.errors import NoSpace, Unavailable
from service.settings import Settings
from service.store.tokens import DRIVES, READS, Tokens

READER = "code-"  # the jobs of processes that read code begin with it
ON_ITS_WAY_SECONDS = 60.0


class Handover:
    """A file where the driver sees our files, else a code that is worth nothing after its first use."""

    def __init__(self, tokens: Tokens, settings: Settings) -> None:
        self._tokens, self._settings = tokens, settings

    def environment(self, study_id: str, job: str) -> dict[str, str]:
        """What a job is told: which service is meant and, where that asks for one, how to get a token."""
        return {"PARETOSCOPE_INSTANCE": self._tokens.instance(), **self._secret(study_id, job)}

    def _secret(self, study_id: str, job: str) -> dict[str, str]:
        if self._settings.token is None:
            return {}
        name = READS if job.startswith(READER) else DRIVES
        if self._settings.driver_tokens is None:
            return {"PARETOSCOPE_CLAIM": self._tokens.code_for(study_id, name)}
        folder = self._settings.driver_tokens
        path = folder / job
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.unlink(missing_ok=True)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(self._tokens.for_driver(study_id, name))
        except OSError as error:
            kind = NoSpace if error.errno == errno.ENOSPC else Unavailable
            raise kind(f"the token of a driver cannot be written: {error.strerror} ({folder})") from error
        return {"PARETOSCOPE_TOKEN_PATH": str(path)}

    def take_back(self, live: Callable[[], set[str]]) -> None:
        """Files that no driver will read any more: their jobs have ended, or were ended before they read them."""
        folder = self._settings.driver_tokens
        lying = [] if folder is None or not folder.is_dir() else list(folder.iterdir())
        jobs = live() if lying else set()
        for path in lying:
            if path.name not in jobs and not _is_on_its_way(path):
                path.unlink(missing_ok=True)


def _is_on_its_way(path: Path) -> bool:
    """Of a process that reads code, which Ray is handed in another thread: it may not know the job yet."""
    try:
        return path.name.startswith(READER) and time.time() - path.stat().st_mtime < ON_ITS_WAY_SECONDS
    except FileNotFoundError:
        return False
