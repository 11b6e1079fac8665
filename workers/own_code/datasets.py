"""A split as a user gives it: tensors as they are, a Dataset read into tensors once, or item by item if it is large."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from service.contract.wording.numbers import number
from workers.own_code.errors import CodeError

log = logging.getLogger(__name__)

CACHED = 2 * 2**30  # bytes of a split of a Dataset that are kept in memory

Take = Callable[[Tensor], list[Tensor]]


def columns_of(given: Any, name: str, device: torch.device) -> tuple[tuple[Tensor, ...] | None, Take, int, bool]:
    """Columns in memory, or none; how rows [B] of them are taken; how many there are; whether it is a lone tensor."""
    if _is_array(given):
        tensors: tuple[Tensor, ...] = (torch.as_tensor(given),)
    elif isinstance(given, (tuple, list)) and given and all(map(_is_array, given)):
        tensors = tuple(map(torch.as_tensor, given))
    elif hasattr(given, "__getitem__") and hasattr(given, "__len__") and not isinstance(given, (str, bytes, dict)):
        return _of_dataset(given, name, device)
    else:
        raise CodeError(f"data[{name!r}] must be tensors of one length or a Dataset with a length, got {_said(given)}")
    return _in_memory(tensors, name, device, single=_is_array(given))


def _in_memory(
    tensors: Sequence[Tensor], name: str, device: torch.device, single: bool
) -> tuple[tuple[Tensor, ...], Take, int, bool]:
    lengths = [len(tensor) if tensor.dim() else 0 for tensor in tensors]
    if len(set(lengths)) > 1:
        raise CodeError(f"the tensors of data[{name!r}] must be of one length, got {lengths}")
    if lengths[0] == 0:
        raise CodeError(f"data[{name!r}] has no examples")
    own = tuple(tensor.detach().to(device) for tensor in tensors)
    return own, lambda rows: [tensor[rows] for tensor in own], lengths[0], single


def _of_dataset(given: Any, name: str, device: torch.device) -> tuple[tuple[Tensor, ...] | None, Take, int, bool]:
    if isinstance(tensors := getattr(given, "tensors", None), tuple) and all(map(_is_array, tensors)):
        return _in_memory(tensors, name, device, single=False)  # a TensorDataset
    count = len(given)
    if count == 0:
        raise CodeError(f"data[{name!r}] has no examples")
    first = _item(given, 0, name)
    single = not isinstance(given[0], (tuple, list))
    size = count * sum(column.nbytes for column in first)
    if size > CACHED:
        said = f"{number(size / 2**30)} GB, over {number(CACHED / 2**30)} GB"
        log.info("data[%r]: %d items of about %s are read anew for every batch", name, count, said)

        def take(rows: Tensor) -> list[Tensor]:
            return _stacked([_item(given, int(i), name) for i in rows.tolist()], name)

        return None, take, count, single
    log.info("data[%r]: %d items of a Dataset, read once and kept as tensors", name, count)
    return _in_memory(_stacked([_item(given, i, name) for i in range(count)], name), name, device, single)


def _item(given: Any, i: int, name: str) -> list[Tensor]:
    """The columns of one example."""
    item = given[i]
    columns = list(item) if isinstance(item, (tuple, list)) else [item]
    for column in columns:
        if not (_is_array(column) or isinstance(column, (bool, int, float))):
            raise CodeError(f"item {i} of data[{name!r}] must be tensors and numbers, got {_said(column)}")
    return [torch.as_tensor(column) for column in columns]


def _stacked(items: Sequence[Sequence[Tensor]], name: str) -> list[Tensor]:
    shapes = [[tuple(column.shape) for column in item] for item in items]
    other = next((shape for shape in shapes if shape != shapes[0]), None)
    if other is not None:
        raise CodeError(f"items of data[{name!r}] must have the same shapes, got {shapes[0]} and {other}")
    return [torch.stack(column) for column in zip(*items, strict=True)]


def _is_array(value: Any) -> bool:
    """A tensor, or what numpy has; numpy itself need not be there."""
    return isinstance(value, Tensor) or type(value).__module__ == "numpy"


def _said(value: Any) -> str:
    inner = f" of {type(value[0]).__name__}" if isinstance(value, (tuple, list)) and value else ""
    return f"{type(value).__name__}{inner}"
