"""Summaries of ended studies, kept in a file of the home: a list of a thousand need not fold a million events.

Only a cache: made again when it is gone, when a log has grown, and when the code that makes summaries has changed.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from pydantic import TypeAdapter

import service
from paretoscope import __version__

log = logging.getLogger("paretoscope.summaries")

AT_ONCE = 500
TABLE = "CREATE TABLE IF NOT EXISTS summaries (study TEXT PRIMARY KEY, seq INTEGER, made_by TEXT, body BLOB)"
T = TypeVar("T")


class Made(NamedTuple, Generic[T]):
    """A summary, and the number of the last event in it."""

    seq: int
    summary: T


def code() -> str:
    """Changes with the version and with every file of the service: what older code made is not shown by newer."""
    digest = hashlib.sha256(__version__.encode())
    folder = Path(service.__file__).parent
    for path in sorted(folder.rglob("*.py")):
        stat = path.stat()
        digest.update(f"{path.relative_to(folder)} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


class KeptSummaries(Generic[T]):
    """By study. Whatever goes wrong with the file is told once, and then there is no cache."""

    def __init__(self, file: Path, kind: type[T], is_final: Callable[[T], bool], made_by: str | None = None) -> None:
        self._file, self._shape, self._is_final = file, TypeAdapter(kind), is_final
        self._made_by = made_by or code()
        self._lock = threading.Lock()
        self._usable = True

    def read(self, study_ids: Sequence[str]) -> dict[str, Made[T]]:
        """Those that this code has made."""

        def look(database: sqlite3.Connection) -> None:
            for start in range(0, len(study_ids), AT_ONCE):
                chunk = study_ids[start : start + AT_ONCE]
                places = ", ".join("?" * len(chunk))
                query = f"SELECT study, seq, body FROM summaries WHERE made_by = ? AND study IN ({places})"
                for study, seq, body in database.execute(query, (self._made_by, *chunk)):
                    made[study] = Made(seq, self._shape.validate_json(body))

        made: dict[str, Made[T]] = {}
        self._use(look)
        return made

    def keep(self, study_id: str, made: Made[T]) -> None:
        """If nothing will follow: of a study that runs, the next event makes it old."""
        if self._is_final(made.summary):
            row = (study_id, made.seq, self._made_by, self._shape.dump_json(made.summary))
            self._use(lambda database: database.execute("INSERT OR REPLACE INTO summaries VALUES (?, ?, ?, ?)", row))

    def _use(self, work: Callable[[sqlite3.Connection], object]) -> None:
        with self._lock:
            if not self._usable:
                return
            try:
                with closing(sqlite3.connect(self._file, timeout=1)) as database, database:
                    database.execute("PRAGMA synchronous=OFF")
                    database.execute(TABLE)
                    work(database)
            except (sqlite3.Error, ValueError) as error:
                self._usable = False
                log.warning("summaries of studies are not kept in %s: %s", self._file, error)
