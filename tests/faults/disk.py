"""A small disk of its own, which can be filled without harming anybody."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEGABYTES = 600  # Ray's logs, and PostgreSQL with its write-ahead log
BLOCK = b"x" * 65536


class Disk:
    def __init__(self, folder: Path, mounted: bool) -> None:
        self.folder, self.mounted = folder, mounted
        self._ballast = folder / "ballast"

    def fill(self) -> None:
        """Whatever is free on it is taken, to the last byte."""
        with self._ballast.open("ab", buffering=0) as file:
            for size in (len(BLOCK), 4096, 1):
                try:
                    while True:
                        file.write(BLOCK[:size])
                except OSError:
                    continue

    def free(self) -> None:
        self._ballast.unlink(missing_ok=True)


@contextmanager
def small_disk() -> Iterator[Disk]:
    """Mounted where this user may; else a plain folder, which nobody fills."""
    folder = Path(tempfile.mkdtemp(prefix="ps-", dir="/tmp"))
    mount, options = shutil.which("mount"), f"size={MEGABYTES}m,mode=755"
    command = [mount or "mount", "-t", "tmpfs", "-o", options, "none", str(folder)]
    mounted = mount is not None and os.geteuid() == 0
    mounted = mounted and subprocess.run(command, check=False, capture_output=True).returncode == 0
    folder.chmod(0o755)
    try:
        yield Disk(folder, mounted)
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
        shutil.rmtree(folder, ignore_errors=True)
