"""A line for everything that was written, or that somebody tried to write."""

from __future__ import annotations

import json
import logging
import threading
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from service.contract.wording.numbers import plural

log = logging.getLogger("paretoscope.audit")

LARGEST = 10_000_000
OLDER = 5  # files beside the newest


class Audit:
    """Lines of JSON in the home; a full one becomes `.1`, that one `.2`, and so on."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._lost = 0  # lines since one could be written last

    def wrote(self, caller: str, address: str, method: str, path: str, status: int) -> None:
        """Never an error of the request; that lines are lost is told in the service's log, when it begins and ends."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        said = {"at": at, "who": caller, "from": address, "method": method, "path": path[:500], "status": status}
        with self._lock:
            try:
                self._write(json.dumps(said) + "\n")
            except OSError as error:
                if not self._lost:
                    log.error("%s cannot be written, and lines are lost: %s", self._path, error.strerror)
                self._lost += 1
                return
            if self._lost:
                log.warning("%s is written again; %s lost", self._path, plural(self._lost, "line"))
                self._lost = 0

    def _write(self, line: str) -> None:
        if self._path.is_file() and self._path.stat().st_size > LARGEST:
            self._turn()
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line)

    def _turn(self) -> None:
        for number in range(OLDER - 1, 0, -1):
            with suppress(FileNotFoundError):
                self._older(number).replace(self._older(number + 1))
        self._path.replace(self._older(1))

    def _older(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")
