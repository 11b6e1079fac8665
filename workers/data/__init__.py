"""Data sets as tensors in memory. `workers.data.<name>` exposes `load(spec, folder) -> DataSet`.

Nothing here imports torch: `paretoscope data` lists and prepares without it.
"""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from service.contract.methods.data import Data

if TYPE_CHECKING:
    import torch
    from torch import Tensor


class Targets(NamedTuple):
    """The labels of one task. A training or validation label of −1 says: this example has none for this task."""

    train: Tensor  # [N]
    test: Tensor  # [M]
    classes: int  # 2 for yes or no
    validation: Tensor | None = None  # [V]

    def to(self, device: torch.device) -> Targets:
        return Targets(self.train.to(device), self.test.to(device), self.classes, _moved(self.validation, device))


@dataclass(frozen=True)
class DataSet:
    """Two or three splits of flat inputs with labels: images in [0, 1], table rows, or the word numbers of a text."""

    x_train: Tensor  # [N, features]
    y_train: Tensor  # [N], of the first task where there are several
    x_test: Tensor  # [M, features]
    y_test: Tensor  # [M]
    classes: int
    shape: tuple[int, int, int]  # channels, height, width of an image, else 1, 1, features
    mean: tuple[float, ...]  # per channel, of the whole training split, for models that normalise their input
    std: tuple[float, ...]
    tasks: dict[str, Targets] = field(default_factory=dict)  # none: the label is the only one
    labelled: Tensor | None = None  # [N] bool: whose main label may be learned from; none: all
    x_validation: Tensor | None = None  # [V, features], held out of the training split
    y_validation: Tensor | None = None  # [V]
    coarse: tuple[int, ...] = ()  # coarse class of each class, where there is one
    domain: Tensor | None = None  # [N]: which domain a training example is from, as an index
    vocabulary: int = 0  # word numbers of a text are below it; 0 is padding

    @property
    def features(self) -> int:
        return self.x_train.shape[1]

    def to(self, device: torch.device) -> DataSet:
        return replace(
            self,
            x_train=self.x_train.to(device),
            y_train=self.y_train.to(device),
            x_test=self.x_test.to(device),
            y_test=self.y_test.to(device),
            tasks={name: targets.to(device) for name, targets in self.tasks.items()},
            labelled=_moved(self.labelled, device),
            x_validation=_moved(self.x_validation, device),
            y_validation=_moved(self.y_validation, device),
            domain=_moved(self.domain, device),
        )


def _moved(tensor: Tensor | None, device: torch.device) -> Tensor | None:
    return None if tensor is None else tensor.to(device)


def data_folder() -> Path:
    """Where prepared data sets are: PARETOSCOPE_DATA (the service hands it to its drivers), else `data` in the home."""
    if given := os.environ.get("PARETOSCOPE_DATA"):
        return Path(given).expanduser().resolve()
    home = os.environ.get("PARETOSCOPE_HOME") or Path.home() / ".paretoscope"
    return Path(home).expanduser().resolve() / "data"


def module_of(name: str) -> ModuleType:
    """`fashion-mnist` → the module `workers.data.sets.fashion_mnist`."""
    return importlib.import_module(f"{__name__}.sets.{name.replace('-', '_')}")


def load(spec: Data, folder: Path | None = None) -> DataSet:
    """The data set that a study names."""
    loaded: DataSet = module_of(spec.name).load(spec, folder or data_folder())
    return loaded
