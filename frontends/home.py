"""The home of a service on this machine: a folder of its owner alone, with the address and the token of the service."""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import stat
from contextlib import suppress
from pathlib import Path

TOKEN = "token"
NOTE = "service.json"
NEEDED_BYTES = 5_000_000  # a start of Ray and the service writes two million, then logs grow


class HomeError(Exception):
    """Why a folder cannot be a home, and what to do."""


def default_home() -> Path:
    """PARETOSCOPE_HOME, else `.paretoscope` in the user's own home."""
    return Path(os.environ.get("PARETOSCOPE_HOME") or Path.home() / ".paretoscope").expanduser()


def claim(home: Path) -> None:
    """Made if it is not there, and closed to all others: Ray opens its own folders below to everybody."""
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        known = home.stat()
        if stat.S_IMODE(known.st_mode) & 0o077:
            if known.st_uid != os.geteuid() or known.st_mode & stat.S_ISVTX:
                raise HomeError(f"{home} is not a folder of your own: choose another --home")
            home.chmod(0o700)
    except OSError as error:
        raise HomeError(f"{home} cannot be used as a home: {error.strerror}; choose another --home") from error


def check_room(home: Path) -> None:
    """Before anything is made in it, or it is made itself: what is begun on a full disk only leaves empty files."""
    with suppress(OSError, StopIteration):  # who may not look hears why when the home is claimed
        usage = shutil.disk_usage(next(place for place in (home, *home.parents) if place.exists()))
        if usage.total and usage.free < NEEDED_BYTES:  # what is no disk, as /proc, has no bytes at all
            left, needed = f"{usage.free:,}", f"{NEEDED_BYTES:,}"
            raise HomeError(
                f"the disk of {home} is full, it has {left} bytes left and a start needs {needed}: "
                "make room, or choose another --home"
            )


def has_no_room(home: Path, error: Exception | None = None) -> bool:
    """Whether what failed there may have failed because its disk is full, and may go well when there is room again."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    with suppress(OSError):
        return shutil.disk_usage(home).free < NEEDED_BYTES
    return False


def write_token(home: Path, token: str) -> Path:
    """In a file that only its owner reads; whoever reads it meanwhile has the old one or the new one."""
    path, draft = home / TOKEN, home / f".{TOKEN}.{secrets.token_hex(4)}"
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(token)
    draft.replace(path)
    return path


def token_of(home: Path) -> str | None:
    """The token that `paretoscope up` made for this home."""
    with suppress(OSError, UnicodeDecodeError):
        return (home / TOKEN).read_text().strip() or None
    return None


def keep_token(home: Path, given: str | None) -> Path:
    """The file with the home's token: what was given, else the one it has, else a new one."""
    return write_token(home, given or token_of(home) or secrets.token_urlsafe(32))


def url_of(home: Path) -> str | None:
    """Where the service runs that `paretoscope up` last started in this home."""
    try:
        return str(json.loads((home / NOTE).read_text())["url"])
    except (OSError, ValueError, KeyError, TypeError):  # not there, or just being written
        return None
