"""Where a local Ray keeps its sockets and sessions, and what is left of those that were killed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

SHORT = "pscope-"  # begins the name of the folder that stands in for one below a long home, then whose it is
LONGEST_TEMP_DIR = 38  # bytes: Ray adds up to 69, a socket's path may have 107


def folder_of(home: Path) -> Path:
    """Below the home, where logs are easy to find; for a long home a short one, removed at the end."""
    below = home / "ray"
    if len(os.fsencode(below)) <= LONGEST_TEMP_DIR:
        return below
    # Ray opens its own to everybody, but not what is above.
    return Path(tempfile.mkdtemp(prefix=f"{SHORT}{os.getpid()}-")) / "ray"


def remove_short(folder: Path) -> None:
    """A folder outside of any home goes with its Ray; in a home the logs stay until the next one."""
    above = folder.parent
    if above.parent == Path(tempfile.gettempdir()) and above.name.startswith(SHORT):
        shutil.rmtree(above, ignore_errors=True)


def sweep_folders(is_used: Callable[[Path], bool]) -> None:
    """Remove the short folders of this user whose makers were killed and whose Rays have ended."""
    for above in Path(tempfile.gettempdir()).glob(f"{SHORT}*"):
        maker = above.name.removeprefix(SHORT).partition("-")[0]
        if not maker.isdecimal() or Path(f"/proc/{maker}").exists() or above.stat().st_uid != os.getuid():
            continue
        if not is_used(above / "ray"):
            shutil.rmtree(above, ignore_errors=True)
