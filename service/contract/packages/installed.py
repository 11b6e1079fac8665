"""What is installed of a package, in one number: files of its modules, found without importing them.

A study that names a package keeps that number. A process that runs it compares, so that another version, or a file
that was changed since, is told and not run for the same.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import metadata
from pathlib import Path

REMEDY = "install that, or submit the study anew"
PASSED_OVER = {".pyc", ".so", ".pyd"}  # what a machine makes of it, which differs from one to the next


def must_be(package: str, modules: Sequence[str], version: str, digest: str) -> None:
    """RuntimeError where what is installed here is not what the study was submitted with."""
    here, own = metadata.version(package), digest_of(modules)
    if here != version:
        raise RuntimeError(f"{package} {here} is installed here, but the study was submitted with {version}: {REMEDY}")
    if own != digest:
        rule = f"{package} {version} is installed here with other files than the study was submitted with"
        raise RuntimeError(f"{rule} ({own[:12]} in place of {digest[:12]}): {REMEDY}")


def digest_of(modules: Sequence[str]) -> str:
    """Of the names and contents of all files of these top-level modules."""
    digest = hashlib.sha256()
    for module in sorted(set(modules)):
        for name, place in sorted(_files(module)):
            file = place.stat()
            digest.update(f"{name}\n{_content(place, file.st_mtime_ns, file.st_size)}\n".encode())
    return digest.hexdigest()


def _files(module: str) -> Iterator[tuple[str, Path]]:
    spec = importlib.util.find_spec(module)
    if spec is None:
        return
    for folder in spec.submodule_search_locations or ():
        for place in Path(folder).rglob("*"):
            if place.suffix not in PASSED_OVER and place.is_file():
                yield f"{module}/{place.relative_to(folder).as_posix()}", place
    if spec.submodule_search_locations is None and spec.origin and Path(spec.origin).is_file():
        yield module, Path(spec.origin)


@lru_cache(maxsize=10_000)
def _content(place: Path, changed: int, size: int) -> str:
    """Read again when it was written anew."""
    with place.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
