"""The tensors of all members behind those that a function sees of one of them under vmap.

vmap takes many an operation apart into several of one kind each, and each of those costs a round through it. What is
known to be the same for all members at once is done outside of it, in one.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor
from torch._C import _functorch as functorch


def of_all(*tensors: Tensor) -> list[Tensor] | None:
    """[K, …] each, members first. None where one is not each member's own, or is within another transformation."""
    level = functorch.maybe_current_level()
    if level != 1:
        return None
    whole = []
    for tensor in tensors:
        if not functorch.is_batchedtensor(tensor):
            return None
        own, axis = functorch.get_unwrapped(tensor), functorch.maybe_get_bdim(tensor)
        whole.append(own if axis == 0 else own.movedim(axis, 0))
    return whole


def at_once(compute: Callable[[], Tensor]) -> Tensor:
    """What is computed for all [K, …], outside of the vmap, as the function sees it of one."""
    vmap = functorch.pop_dynamic_layer_stack()
    try:
        whole = compute()
    finally:
        functorch.push_dynamic_layer_stack(vmap)
    return functorch._add_batch_dim(whole, 0, 1)
