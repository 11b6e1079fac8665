"""Where a member's numbers begin in memory: for each of a cohort as for one that trains alone.

Products of matrices and convolutions round by how far from a boundary of 64 bytes their arguments begin. In one block
the second member begins anywhere, so its last digits would depend on its cohort, and a training makes much of them.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

BYTES = 64


def in_rows(tensor: Tensor) -> Tensor:
    """A copy [K, …] in which every member begins at a boundary."""
    members, shape = len(tensor), tensor.shape[1:]
    count, unit = math.prod(shape), BYTES // tensor.element_size()
    rows = tensor.new_zeros(members, math.ceil(count / unit) * unit)[:, :count]
    with torch.no_grad():
        return rows.unflatten(1, shape).copy_(tensor) if shape else rows[:, 0].copy_(tensor)


def at_boundary(tensor: Tensor) -> Tensor:
    """Itself, or a copy if it begins elsewhere."""
    return tensor.clone(memory_format=torch.contiguous_format) if tensor.data_ptr() % BYTES else tensor
