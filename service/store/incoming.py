"""Files on their way in: written beside their place, brought to the disk, and renamed into it when all is there."""

from __future__ import annotations

import filecmp
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO, NamedTuple, cast

MARK = ".draft-"  # between a file's name and whose draft it is


class Draft(NamedTuple):
    """A file on its way in; it takes its place when all of it is there."""

    file: BinaryIO
    place: Path

    def content(self) -> bytes:
        self.file.flush()
        return Path(self.file.name).read_bytes()

    def start(self, length: int) -> bytes:
        """Its first bytes."""
        self.file.flush()
        with Path(self.file.name).open("rb") as file:
            return file.read(length)

    def settle(self) -> None:
        """After a loss of power the place has the old file or the new one, never a part. It is as old as this machine's
        clock says, by which events are told too: a file system elsewhere has another."""
        self.file.flush()
        now = time.time_ns()
        os.utime(self.file.name, ns=(now, now))
        os.fsync(self.file.fileno())
        Path(self.file.name).replace(self.place)
        folder = os.open(self.place.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def is_known(self) -> bool:
        """Whether the very same file is in its place already."""
        self.file.flush()
        return self.place.is_file() and filecmp.cmp(self.file.name, self.place, shallow=False)


@contextmanager
def drafted(place: Path) -> Iterator[Draft]:
    """A draft for this place; what is not settled leaves nothing behind."""
    place.parent.mkdir(parents=True, exist_ok=True)
    owner = f"{MARK}{_host()}-{os.getpid()}."
    with NamedTemporaryFile(dir=place.parent, prefix=f".{place.name}{owner}", delete=False) as file:
        try:
            yield Draft(cast(BinaryIO, file), place)
        finally:
            Path(file.name).unlink(missing_ok=True)


def sweep(folder: Path, begun: float) -> None:
    """Remove the drafts below a folder that processes of this machine left when they were killed.

    `begun` is when this process began to take files, in seconds since 1970: a process's number may come back.
    """
    for draft in folder.rglob(f".*{MARK}*"):
        host, _, rest = draft.name.rpartition(MARK)[2].partition("-")
        process = rest.partition(".")[0]
        if host == _host() and process.isdecimal() and _is_left(draft, int(process), begun):
            draft.unlink(missing_ok=True)


def _host() -> str:
    return socket.gethostname().replace("-", "_").replace(".", "_")


def _is_left(draft: Path, process: int, begun: float) -> bool:
    """Whether nobody writes to it any more."""
    if process == os.getpid():
        return draft.stat().st_mtime < begun
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
