"""Packages that a folder's requirements.txt asks for, beside those that are installed here: a folder for each such
list, made once per machine.

What is installed stays as it is and is found first: a list that needs another version of something is refused. Ray's
own way copies the whole environment, torch included, for every list.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from workers.own_code.errors import CodeError

FILE = "requirements.txt"
INSTALL_SECONDS = 600
PIP = (sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check")


def provide(folder: Path) -> None:
    """From now on this process finds them; CodeError where they cannot be installed."""
    lines = asked(folder)
    if not lines:
        return
    root = _root()
    sys.path[:] = [path for path in sys.path if not path.startswith(f"{root}{os.sep}")]
    place = root / _name(folder, lines)
    with _alone(root / f"{place.name}.lock"):
        if not place.is_dir():
            draft = Path(tempfile.mkdtemp(prefix="draft-", dir=root))
            try:
                _install(folder, draft)
                draft.rename(place)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
    sys.path.append(str(place))  # after what is installed, so that it hides none of it


def asked(folder: Path) -> list[str]:
    """The lines of its requirements.txt, if it has one."""
    file = folder / FILE
    lines = file.read_text(errors="replace").splitlines() if file.is_file() else []
    return [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]


def _root() -> Path:
    """Nobody else may write there: what is in it is imported."""
    root = Path(tempfile.gettempdir()) / f"paretoscope-packages-{os.getuid()}"
    root.mkdir(mode=0o700, exist_ok=True)
    kept = root.lstat()
    if root.is_symlink() or kept.st_uid != os.getuid() or kept.st_mode & 0o022:
        raise CodeError(f"packages cannot be kept in {root}: others may write there, remove it", FILE)
    return root


def _name(folder: Path, lines: Sequence[str]) -> str:
    """By the list, the Python it is for, and the wheels that come with the code."""
    digest = hashlib.sha256("\n".join([sys.executable, sys.version, *lines]).encode())
    for wheel in sorted(folder.rglob("*.whl")):
        digest.update(wheel.read_bytes())
    return digest.hexdigest()[:32]


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """One process installs a list, the others wait for it."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _install(folder: Path, into: Path) -> None:
    report = into / "report.json"
    _run([*PIP, "--dry-run", "--report", str(report), "-r", FILE], folder)
    missing: list[dict[str, Any]] = json.loads(report.read_text())["install"]
    report.unlink()
    for each in missing:
        name, version = each["metadata"]["name"], each["metadata"]["version"]
        if (here := _installed(name)) is not None:
            rule = f"needs {name} {version}, but {here} is installed here, and Paretoscope runs with that"
            raise CodeError(f"{rule}: ask for what goes with it", FILE)
    if missing:
        urls = [each["download_info"]["url"] for each in missing]
        _run([*PIP, "--no-deps", "--target", str(into), *urls], folder)


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _run(command: Sequence[str], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise CodeError(f"installing its packages took longer than {INSTALL_SECONDS} s", FILE) from None
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()][-3:] or ["pip gave no reason"]
        raise CodeError(f"its packages cannot be installed: {' '.join(said)}"[:1000], FILE)
