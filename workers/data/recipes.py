"""What a data set of images is made from: the places where its files may be, and ways to get them."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from service.contract.errors import InvalidInput

Files = dict[str, bytes]


class Splits(NamedTuple):
    """Images as they were published, before anything is chosen or scaled."""

    train_images: NDArray[np.uint8]  # [N, C, H, W]
    train_labels: NDArray[np.int64]  # [N]
    test_images: NDArray[np.uint8]  # [M, C, H, W]
    test_labels: NDArray[np.int64]  # [M]


@dataclass(frozen=True)
class Place:
    """Files that may be somewhere below the data folder; an absolute `path` may lie outside.

    A folder, or a tarball that is read without being unpacked; a name may carry `.gz`.
    """

    title: str
    path: str
    names: Sequence[str]
    parse: Callable[[Files], Splits]

    def find(self, folder: Path) -> Path | None:
        """The folder or tarball, if everything needed is there."""
        path = folder / self.path
        if path.suffix == ".tgz":
            return path if path.is_file() else None
        return path if all(_file(path, name) for name in self.names) else None

    def read(self, path: Path) -> Splits:
        return self.parse(self._files(path))

    def _files(self, path: Path) -> Files:
        if path.is_dir():
            return {name: file.read_bytes() for name in self.names if (file := _file(path, name))}
        found: Files = {}
        with tarfile.open(path) as tar:
            for member in tar:  # one pass: going back in a gzipped tar means unpacking it again
                name = Path(member.name).name
                if name in self.names and (stream := tar.extractfile(member)) is not None:
                    found[name] = stream.read()
        missing = [name for name in self.names if name not in found]
        if missing:
            raise InvalidInput(f"it has no {missing[0]}")
        return found


def _file(folder: Path, name: str) -> Path | None:
    return next((file for file in (folder / name, folder / f"{name}.gz") if file.is_file()), None)


class Way(NamedTuple):
    """A way to get the files: a program to run in an empty folder that then holds one of the places."""

    title: str
    by: str  # apt, npm or torchvision
    what: str  # the package, or torchvision's class


@dataclass(frozen=True)
class Recipe:
    """One data set of images."""

    name: str
    places: Sequence[Place]
    ways: Sequence[Way]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    classes: int = 10
