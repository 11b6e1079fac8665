"""CelebA (Liu et al. 2015): faces with 40 yes-or-no attributes, each a task."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from service.contract.methods.data import Celeba
from service.contract.methods.task_data import ATTRIBUTES, task_name
from service.contract.wire.errors import InvalidInput
from workers.data import Draw
from workers.data.files import pictures
from workers.data.files.splits import Splits
from workers.data.preparing import prepared
from workers.data.preparing.recipes import Download, Recipe

FACES, LIST, PARTITION = "img_align_celeba", "list_attr_celeba.txt", "list_eval_partition.txt"
TRAIN, TEST = "0", "2"  # in the partition; 1 are the published validation faces


@dataclass(frozen=True)
class Aligned:
    """torchvision's layout: a folder of aligned faces and two lists."""

    size: int
    title: str = "torchvision's files"
    path: str = "celeba"

    def find(self, folder: Path) -> Path | None:
        path = folder / self.path
        here = (path / FACES).is_dir() and all((path / name).is_file() for name in (LIST, PARTITION))
        return path if here else None

    def read(self, path: Path) -> Splits:
        _, header, *lines = (path / LIST).read_text().splitlines()
        names = tuple(map(task_name, header.split()))
        if names != ATTRIBUTES:
            raise InvalidInput(
                f"{LIST} has the attributes {', '.join(names) or 'none'}; known: {', '.join(ATTRIBUTES)}"
            )
        labels = {file: values for file, *values in map(str.split, lines)}
        parts = dict(line.split() for line in (path / PARTITION).read_text().splitlines())

        def split(part: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
            files = [file for file, its in parts.items() if its == part]
            unknown = next((file for file in files if len(labels.get(file, ())) != len(names)), None)
            if unknown is not None:
                raise InvalidInput(f"{LIST} has no {len(names)} attributes of {unknown}")
            signs = np.array([labels[file] for file in files], dtype=np.int64).reshape(-1, len(names))  # −1 or 1
            return pictures.read([path / FACES / file for file in files], self.size), (signs > 0).astype(np.int64)

        return Splits(*split(TRAIN), *split(TEST))


def recipe(size: int) -> Recipe:
    return Recipe(
        "celeba",
        places=(Aligned(size),),
        downloads=(Download("torchvision's download (1.4 GB)", "torchvision", "CelebA", splits=("all",)),),
        classes=2,
        tasks=ATTRIBUTES,
        things="faces",
        variant=str(size),
    )


RECIPE = recipe(Celeba().size)


def load(spec: Celeba, folder: Path) -> Draw:
    """Faces of one size are prepared once; another size is prepared at first use."""
    from workers.data.assembly import Facts, as_bytes, assemble

    splits = prepared.open_or_prepare(recipe(spec.size), folder)
    tasks = spec.columns
    columns = [ATTRIBUTES.index(name) for name in tasks]
    train, test = splits.train_labels[:, columns], splits.test_labels[:, columns]
    chosen = splits._replace(train_labels=train, test_labels=test)
    return assemble(chosen, spec, Facts(2, tasks=tasks), as_bytes, spec.test_images)
