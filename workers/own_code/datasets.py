"""A split as a user gives it: tensors as they are, a Dataset read into tensors once, or item by item if it is large."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from service.contract.wording.numbers import number
from workers.own_code.errors import CodeError
from workers.own_code.forms import Form, taken_apart

log = logging.getLogger(__name__)

CACHED = 2 * 2**30  # bytes of a split of a Dataset that are kept in memory


class Split(NamedTuple):
    """The examples of one split of one draw."""

    columns_at: Callable[[Tensor], list[Tensor]]  # rows [B] → each column [B, …]
    length: int
    form: Form | None  # in which a batch holds its columns
    tensors: tuple[Tensor, ...] | None = None  # none: streamed


def columns_of(given: Any, name: str, device: torch.device) -> Split:
    """As a tensor, a tuple or a dict of tensors, a list of examples, or a Dataset."""
    if isinstance(given, (tuple, Mapping)) or (isinstance(given, list) and given and all(map(_is_array, given))):
        leaves, form = taken_apart(given)
    elif _is_array(given):
        leaves, form = [given], None
    elif hasattr(given, "__getitem__") and hasattr(given, "__len__") and not isinstance(given, (str, bytes)):
        return _of_dataset(given, name, device)
    else:
        raise _no_split(name, _said(given))
    if not leaves:
        raise _no_split(name, f"an empty {_said(given)}")
    for leaf in leaves:
        if not _is_array(leaf):
            raise _no_split(name, f"{type(given).__name__} with {_said(leaf)} in it")
    return _in_memory([torch.as_tensor(leaf) for leaf in leaves], form, name, device)


def _no_split(name: str, said: str) -> CodeError:
    return CodeError(f"data[{name!r}] must be tensors of one length or a Dataset with a length, got {said}")


def _in_memory(tensors: Sequence[Tensor], form: Form | None, name: str, device: torch.device) -> Split:
    lengths = [len(tensor) if tensor.dim() else 0 for tensor in tensors]
    if len(set(lengths)) > 1:
        raise CodeError(f"the tensors of data[{name!r}] must be of one length, got {lengths}")
    if lengths[0] == 0:
        raise CodeError(f"data[{name!r}] has no examples")
    own = tuple(tensor.detach().to(device) for tensor in tensors)
    return Split(lambda rows: [tensor[rows] for tensor in own], lengths[0], form, own)


def _of_dataset(given: Any, name: str, device: torch.device) -> Split:
    if isinstance(tensors := getattr(given, "tensors", None), tuple) and tensors and all(map(_is_array, tensors)):
        return _in_memory(tensors, taken_apart(tensors)[1], name, device)  # a TensorDataset
    count = len(given)
    if count == 0:
        raise CodeError(f"data[{name!r}] has no examples")
    form = taken_apart(given[0])[1]
    first = _item(given, 0, form, name)
    if not first:
        raise CodeError(f"item 0 of data[{name!r}] holds no tensor")
    size = count * sum(column.nbytes for column in first)
    if size > CACHED:
        said = f"{number(size / 2**30)} GB, over {number(CACHED / 2**30)} GB"
        log.info("data[%r]: %d items of about %s are read anew for every batch", name, count, said)

        def columns_at(rows: Tensor) -> list[Tensor]:
            return _stacked([_item(given, int(i), form, name) for i in rows.tolist()], name)

        return Split(columns_at, count, form)
    log.info("data[%r]: %d items of a Dataset, read once and kept as tensors", name, count)
    return _in_memory(_stacked([_item(given, i, form, name) for i in range(count)], name), form, name, device)


def _item(given: Any, i: int, form: Form | None, name: str) -> list[Tensor]:
    """The columns of one example."""
    columns, own = taken_apart(given[i])
    for column in columns:
        if not (_is_array(column) or isinstance(column, (bool, int, float))):
            raise CodeError(f"item {i} of data[{name!r}] must be tensors and numbers, got {_said(column)}")
    if own != form:
        raise CodeError(f"items of data[{name!r}] must all have the form of the first, item {i} has another")
    return [torch.as_tensor(column) for column in columns]


def _stacked(items: Sequence[Sequence[Tensor]], name: str) -> list[Tensor]:
    shapes = [[tuple(column.shape) for column in item] for item in items]
    other = next((shape for shape in shapes if shape != shapes[0]), None)
    if other is not None:
        rule = f"items of data[{name!r}] must have the same shapes, got {shapes[0]} and {other}"
        raise CodeError(f"{rule}: a batch holds them in one tensor, so pad them to one length in the Dataset")
    return [torch.stack(column) for column in zip(*items, strict=True)]


def _is_array(value: Any) -> bool:
    """A tensor, or what numpy has; numpy itself need not be there."""
    return isinstance(value, Tensor) or type(value).__module__ == "numpy"


def _said(value: Any) -> str:
    inner = f" of {type(value[0]).__name__}" if isinstance(value, (tuple, list)) and value else ""
    return f"{type(value).__name__}{inner}"
