"""Splits made by hand."""

from __future__ import annotations

import torch
from torch import Tensor

from workers.data.pool import Rows, stacked
from workers.data.random_streams import Seeds
from workers.data.split import Part


def part_of(x: Tensor, y: Tensor | None, seeds: Seeds) -> Part:
    """Inputs [N, features] and labels that all members share; classes of none are all the same."""
    return Part(stacked([Rows.all_of(x)]), (torch.zeros(len(x), dtype=torch.long) if y is None else y)[None], seeds)
