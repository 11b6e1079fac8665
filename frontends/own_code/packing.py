"""Code of your own on its way to the service: a file, or a folder as an archive."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from frontends.connection import ClientError

LEFT_OUT = {"__pycache__", "node_modules", "venv"}
LARGEST = 20_000_000
MAIN = "main.py"


class Sent(NamedTuple):
    """What goes to the service, and which of its files is imported."""

    content: bytes
    kind: str
    entry: str


def packed(path: Path) -> Sent:
    """A Python file as it is; a folder as an archive, without hidden files and what tools leave behind."""
    if path.is_file():
        return Sent(read(path), "text/x-python", path.name)
    if not path.is_dir():
        raise ClientError(f"code: there is no file or folder {path}", 422)
    files = dict(_files(path))
    size = sum(file.stat().st_size for file in files.values())
    if size > LARGEST:
        rule = f"the folder {path} has {size:,} bytes, over the limit of {LARGEST:,}: keep data elsewhere"
        raise ClientError(f"code: {rule}", 413)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in files.items():
            archive.writestr(name, read(file))
    return Sent(buffer.getvalue(), "application/zip", _entry(path, files))


def unpack(sent: Sent, folder: Path) -> None:
    """As the service will have it."""
    folder.mkdir(parents=True)
    if sent.kind == "application/zip":
        with zipfile.ZipFile(io.BytesIO(sent.content)) as archive:
            archive.extractall(folder)
    else:
        (folder / sent.entry).write_bytes(sent.content)


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT and not name.startswith("."))
        for name in folders:
            _check_link(Path(root) / name, folder)
        for name in sorted(names):
            file = Path(root) / name
            if not name.startswith(".") and file.suffix != ".pyc" and file.is_file():
                _check_link(file, folder)
                yield file.relative_to(folder).as_posix(), file


def _check_link(path: Path, folder: Path) -> None:
    """A link may stand for another file of the folder, never for what lies outside: that was not meant to be sent."""
    if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
        name = path.relative_to(folder).as_posix()
        raise ClientError(f"code: the link {name} in {folder} leads out of the folder: put a copy in its place", 422)


def _entry(folder: Path, files: Mapping[str, Path]) -> str:
    """The only Python file at the top, the one named as its folder, or main.py."""
    top = [name for name in files if "/" not in name and name.endswith(".py")]
    for name in (f"{folder.resolve().name}.py", MAIN):
        if name in top:
            return name
    if len(top) != 1:
        known = ", ".join(top) or "none"
        raise ClientError(f"code: call the file to import {MAIN}; the folder {folder} has {known}", 422)
    return top[0]


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ClientError(f"code: {path} cannot be read: {error.strerror}", 422) from error
