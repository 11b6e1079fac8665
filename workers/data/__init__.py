"""Data sets as tensors in memory. `workers.data.<name>` exposes `load(spec, folder) -> DataSet`.

Nothing here imports torch: `paretoscope data` lists and prepares without it.
"""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from service.contract.data import Data

if TYPE_CHECKING:
    import torch
    from torch import Tensor


@dataclass(frozen=True)
class DataSet:
    """Two splits of flat inputs in [0, 1] with integer labels."""

    x_train: Tensor  # [N, features]
    y_train: Tensor  # [N]
    x_test: Tensor  # [M, features]
    y_test: Tensor  # [M]
    classes: int
    shape: tuple[int, int, int]  # channels, height, width of an image; their product is `features`
    mean: tuple[float, ...]  # per channel, of the whole training split, for models that normalise their input
    std: tuple[float, ...]

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
        )


def data_folder() -> Path:
    """Where prepared data sets are: PARETOSCOPE_DATA (the service hands it to its drivers), else `data` in the home."""
    if given := os.environ.get("PARETOSCOPE_DATA"):
        return Path(given).expanduser().resolve()
    home = os.environ.get("PARETOSCOPE_HOME") or Path.home() / ".paretoscope"
    return Path(home).expanduser().resolve() / "data"


def module_of(name: str) -> ModuleType:
    """`fashion-mnist` → the module `workers.data.fashion_mnist`."""
    return importlib.import_module(f"{__name__}.{name.replace('-', '_')}")


def load(spec: Data, folder: Path | None = None) -> DataSet:
    """The data set that a study names."""
    loaded: DataSet = module_of(spec.name).load(spec, folder or data_folder())
    return loaded
