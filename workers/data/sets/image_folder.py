"""Your own images by domain and class, in the layout of PACS: `domain/class/*.jpg`."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from service.contract.methods.data import ImageFolder
from service.contract.methods.task_data import PICTURES
from service.contract.study.domains import task_of
from service.contract.wire.errors import InvalidInput, NotFound
from workers.data import DataSet, Draw, Targets, selection
from workers.data.files import pictures
from workers.data.files.named_files import check_links, own_place
from workers.data.files.splits import Splits
from workers.data.preparing import prepared

if TYPE_CHECKING:
    from torch import Tensor

log = logging.getLogger(__name__)

MADE = "your own folder: domain/class/*.jpg"


class Album(NamedTuple):
    """All images of a folder, in the order of their paths."""

    images: NDArray[np.uint8]  # [N, 3, size, size]
    labels: NDArray[np.int64]  # [N], class
    domains: NDArray[np.int64]  # [N]


def load(spec: ImageFolder, folder: Path) -> Draw:
    """Every domain that is trained on is a task: the class, of its own images. Test labels are those of all tests."""
    import torch

    from workers.data.assembly import Facts, as_bytes, assemble

    root = own_place(spec.path, folder)
    files = _files(root, spec.path)
    check_links((root / file for file in files), spec.path, folder)
    domains = sorted({file.parts[0] for file in files})
    classes = sorted({file.parts[1] for file in files})
    album = _album(root, files, spec.size, folder, domains, classes)
    train, test = _split(spec, album, domains)
    trained = sorted(set(album.domains[train].tolist()))
    strata = album.labels * len(domains) + album.domains  # every choice keeps the shares of domains too
    splits = Splits(album.images[train], album.labels[train], album.images[test], album.labels[test])

    def portion(seed: int | None) -> selection.Portions:
        return selection.portions(strata[train], strata[test], spec, spec.test_images, seed)

    assembled = assemble(splits, spec, Facts(len(classes)), as_bytes, portion=portion)
    names = [task_of(domains[d]) for d in trained]
    if len(set(names)) < len(names):
        raise InvalidInput(f"data 'image-folder': two domains have the same name but for case and hyphens: {domains}")
    number = torch.full((len(domains),), -1)
    number[trained] = torch.arange(len(trained))

    def draw(seed: int | None) -> DataSet:
        data, chosen = assembled(seed), portion(seed)
        domain = torch.from_numpy(album.domains[train][chosen.train])
        held = torch.from_numpy(album.domains[train][chosen.validation])

        def of_domain(d: int) -> Targets:
            validation = None if data.y_validation is None else _only(data.y_validation, held == d)
            return Targets(_only(data.y_train, domain == d), data.y_test, data.classes, validation)

        tasks = {name: of_domain(d) for name, d in zip(names, trained, strict=True)}
        return replace(data, tasks=tasks, domain=number[domain])

    return draw


def _only(labels: Tensor, mine: Tensor) -> Tensor:
    return labels.where(mine, -1)


def _files(root: Path, path: str) -> list[Path]:
    """Pictures relative to the root, sorted."""
    if not root.is_dir():
        raise NotFound(f"data 'image-folder': path must be a folder of domains, got {path!r}")
    files = sorted(file.relative_to(root) for file in root.glob("*/*/*") if file.suffix.lower() in PICTURES)
    if not files:
        raise NotFound(f"data 'image-folder': there is no domain/class/*.jpg in {path!r}")
    return files


def _split(spec: ImageFolder, album: Album, domains: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if spec.leave_out is None:
        return selection.split_by_class(album.labels * len(domains) + album.domains, spec.test_fraction)
    if spec.leave_out not in domains or len(domains) == 1:
        raise InvalidInput(
            f"data.leave_out must be one of several domains, got {spec.leave_out!r}; known: {', '.join(domains)}"
        )
    left = album.domains == domains.index(spec.leave_out)
    return np.flatnonzero(~left), np.flatnonzero(left)


def _album(
    root: Path, files: Sequence[Path], size: int, folder: Path, domains: Sequence[str], classes: Sequence[str]
) -> Album:
    """The images, kept as one prepared file for as long as none of the files changes."""
    stats = [(root / file).stat() for file in files]
    said = [str(root.resolve()), *(f"{f}:{s.st_size}:{s.st_mtime_ns}" for f, s in zip(files, stats, strict=True))]
    digest = hashlib.sha256("\n".join(said).encode()).hexdigest()[:16]
    path = folder / f"image-folder.{size}.{digest}.safetensors"
    if path.is_file():
        return Album(*prepared.arrays_of(path, Album._fields))
    labels = np.array([classes.index(file.parts[1]) for file in files])
    album = Album(
        pictures.read([root / file for file in files], size),
        labels,
        np.array([domains.index(f.parts[0]) for f in files]),
    )
    try:
        prepared.write(path, album, str(root))
    except OSError as error:
        log.warning("%s is used without being prepared: %s", root, error)
    return album
