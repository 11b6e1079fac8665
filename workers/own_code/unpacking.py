"""Code as it came from the service, in a folder of this process."""

from __future__ import annotations

import atexit
import functools
import io
import os
import shutil
import tempfile
import zipfile
from pathlib import Path

FOLDER = "paretoscope-code-"  # then the process, so that a later driver can tell what was left behind


@functools.lru_cache(maxsize=8)
def unpacked(content: bytes) -> Path:
    """Its folder, removed with the process. The service has refused names that lead out of it."""
    folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(folder)
    return folder
