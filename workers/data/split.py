"""The data of a cohort."""

from __future__ import annotations

from typing import NamedTuple

from workers.data import DataSet
from workers.data.random_streams import Seeds


class Split(NamedTuple):
    """Training and test examples of a cohort: who learns from them, and in which portions."""

    data: DataSet
    seeds: Seeds
    batch_size: int
