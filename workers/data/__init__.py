"""Data sets as tensors in memory. `workers.data.<name>` exposes `load(spec) -> DataSet`."""

from __future__ import annotations

import importlib
from dataclasses import dataclass

import torch
from torch import Tensor

from service.contract.data import Data


@dataclass(frozen=True)
class DataSet:
    """Two splits of flat inputs in [0, 1] with integer labels."""

    x_train: Tensor  # [N, features]
    y_train: Tensor  # [N]
    x_test: Tensor  # [M, features]
    y_test: Tensor  # [M]
    classes: int

    @property
    def features(self) -> int:
        return self.x_train.shape[1]

    def to(self, device: torch.device) -> DataSet:
        return DataSet(
            self.x_train.to(device),
            self.y_train.to(device),
            self.x_test.to(device),
            self.y_test.to(device),
            self.classes,
        )


def load(spec: Data) -> DataSet:
    """The data set that a study names."""
    module = importlib.import_module(f"{__name__}.{spec.name.replace('-', '_')}")
    loaded: DataSet = module.load(spec)
    return loaded
