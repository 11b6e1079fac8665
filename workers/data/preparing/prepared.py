"""Prepared data sets: one safetensors file per data set and folder, written once, then mapped by every process."""

from __future__ import annotations

import csv
import logging
import os
import shlex
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from service.contract.wire.errors import InvalidInput, NotFound
from workers.data.files.splits import Splits
from workers.data.preparing.recipes import Recipe

log = logging.getLogger(__name__)

UNREADABLE = (
    InvalidInput, OSError, EOFError, ValueError, TypeError, tarfile.TarError, zipfile.BadZipFile, zlib.error, csv.Error
)  # fmt: skip
SOURCE = "source"  # the key in the file's metadata that says where the examples came from


def path_of(recipe: Recipe, folder: Path) -> Path:
    return folder / f"{'.'.join(filter(None, (recipe.name, recipe.variant)))}.safetensors"


def open_or_prepare(recipe: Recipe, folder: Path) -> Splits:
    """The prepared examples; a folder that cannot be written costs every process the preparation, not the study."""
    path = path_of(recipe, folder)
    if path.is_file():
        return read(path)
    splits, source = from_places(recipe, folder)
    try:
        write(path, splits, source)
    except OSError as error:
        log.warning("%s is used without being prepared: %s", recipe.name, error)
        return splits
    return read(path)


def from_places(recipe: Recipe, folder: Path) -> tuple[Splits, str]:
    """Read the first place that has the files, and say which it was."""
    for place in recipe.places:
        if source := place.find(folder):
            try:
                splits = place.read(source)
                check(splits, recipe.classes)
            except UNREADABLE as error:
                raise InvalidInput(f"data {recipe.name!r} cannot be read from {source}: {error}") from error
            return splits, place.title
    raise NotFound(f"data {recipe.name!r} is not in {folder}: run {command(recipe.name, folder)!r}")


def command(name: str, folder: Path) -> str:
    return f"paretoscope data prepare {name} --folder {shlex.quote(str(folder))}"


def check(splits: Splits, classes: int) -> None:
    for split, images, labels in (("train", *splits[:2]), ("test", *splits[2:])):
        if images.ndim != 4 or len(images) != len(labels) or not len(labels):
            raise InvalidInput(f"the {split} split has images {list(images.shape)} for labels {list(labels.shape)}")
        if labels.min() < 0 or labels.max() >= classes:
            raise InvalidInput(f"the {split} labels are not in 0…{classes - 1}")


class Arrays(Protocol):
    """A named tuple of arrays."""

    def _asdict(self) -> dict[str, NDArray[Any]]: ...


def write(path: Path, arrays: Arrays, source: str) -> None:
    """A temporary file, then one rename: no process ever sees half a file, and two writers do not meet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=".part")
    os.close(handle)
    part = Path(name)
    try:
        tensors = {key: np.ascontiguousarray(value) for key, value in arrays._asdict().items()}
        save_file(tensors, part, metadata={SOURCE: source})
        part.chmod(0o644)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read(path: Path) -> Splits:
    """The splits of a prepared file."""
    return Splits(*arrays_of(path, Splits._fields))


def arrays_of(path: Path, keys: Sequence[str]) -> list[NDArray[Any]]:
    """Views of the mapped file: only what is used is read from the disk, and processes share it."""
    with _opened(path, "pt") as file:  # mapped only for torch
        return [file.get_tensor(key).numpy() for key in keys]


def source_of(path: Path) -> str:
    """Where the examples of a prepared file came from."""
    with _opened(path, "np") as file:
        return str((file.metadata() or {}).get(SOURCE, "unknown"))


@contextmanager
def _opened(path: Path, framework: str) -> Iterator[Any]:
    try:
        with safe_open(path, framework=framework) as file:
            yield file
    except (SafetensorError, OSError) as error:
        again = f"run {command(path.name.split('.')[0], path.parent)!r}"
        raise InvalidInput(f"{path} is not a prepared data set ({error}): {again}") from error
