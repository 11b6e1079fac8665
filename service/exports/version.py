"""Which versions made it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from paretoscope import __version__ as VERSION

__all__ = ["SOFTWARE", "VERSION", "software"]

SOFTWARE = {"torch": "PyTorch", "ray": "Ray Tune", "optuna": "Optuna", "torchjd": "TorchJD", "moocore": "moocore"}


def _version(package: str) -> str | None:
    """Read off the installed package, without importing it."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def software() -> dict[str, str]:
    """The packages that trained and measured, as installed beside the service."""
    versions = {package: _version(package) for package in SOFTWARE}
    return {package: number for package, number in versions.items() if number is not None}
