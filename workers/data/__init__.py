"""Data sets as tensors in memory. `workers.data.sets.<name>` exposes `load(spec, folder) -> Draw`.

Nothing here imports torch: `paretoscope data` lists and prepares without it.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from service.contract.methods.data import Data

if TYPE_CHECKING:
    from torch import Tensor

    from workers.data.pool import Rows


class Targets(NamedTuple):
    """The labels of one task. A training or validation label of −1 says: this example has none for this task."""

    train: Tensor  # [N]
    test: Tensor  # [M]
    classes: int  # 2 for yes or no
    validation: Tensor | None = None  # [V]


@dataclass(frozen=True)
class DataSet:
    """One draw of a data set: splits of flat inputs with labels. Images in [0, 1], table rows, word numbers."""

    x_train: Rows  # [N, features]
    y_train: Tensor  # [N], of the first task where there are several
    x_test: Rows  # [M, features]
    y_test: Tensor  # [M]
    classes: int
    shape: tuple[int, int, int]  # channels, height, width of an image, else 1, 1, features
    mean: tuple[float, ...]  # per channel, of the whole training split, for models that normalise their input
    std: tuple[float, ...]
    tasks: dict[str, Targets] = field(default_factory=dict)  # none: the label is the only one
    labelled: Tensor | None = None  # [N] bool: whose main label may be learned from; none: all
    x_validation: Rows | None = None  # [V, features], held out of the training split
    y_validation: Tensor | None = None  # [V]
    coarse: tuple[int, ...] = ()  # coarse class of each class, where there is one
    domain: Tensor | None = None  # [N]: which domain a training example is from, as an index
    vocabulary: int = 0  # word numbers of a text are below it; 0 is padding
    seed: int | None = None  # whose draw it is; none: the one that all seeds share

    @property
    def features(self) -> int:
        return self.x_train.features


Draw = Callable[[int | None], DataSet]  # by a trial's seed; none: the draw that all seeds share


def data_folder() -> Path:
    """Where prepared data sets are: PARETOSCOPE_DATA (the service hands it to its drivers), else `data` in the home."""
    if given := os.environ.get("PARETOSCOPE_DATA"):
        return Path(given).expanduser().resolve()
    home = os.environ.get("PARETOSCOPE_HOME") or Path.home() / ".paretoscope"
    return Path(home).expanduser().resolve() / "data"


def module_of(name: str) -> ModuleType:
    """`fashion-mnist` → the module `workers.data.sets.fashion_mnist`."""
    return importlib.import_module(f"{__name__}.sets.{name.replace('-', '_')}")


def load(spec: Data, folder: Path | None = None, seed: int | None = None) -> DataSet:
    """The data set that a study names, as drawn for a seed or for all."""
    return _draw(spec, folder)(seed)


def draws(spec: Data, seeds: Sequence[int], folder: Path | None = None) -> list[DataSet]:
    """One draw for all of these seeds, or one for each, as the study asks."""
    draw = _draw(spec, folder)
    return [draw(seed) for seed in (seeds if spec.draw == "per-seed" else [None])]


def _draw(spec: Data, folder: Path | None) -> Draw:
    draw: Draw = module_of(spec.name).load(spec, folder or data_folder())
    return draw
