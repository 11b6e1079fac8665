"""Where a module keeps its parameters and buffers, so that others can stand there for the length of a call.

The same as `torch.func.functional_call`, with the places looked up once: on small modules that look-up takes as long
as the call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import cast

from torch import Tensor, nn

Slot = tuple[dict[str, Tensor], str]  # those that hold none are no slots


class Slots:
    """By the names of `named_parameters` and `named_buffers`; what is tied has several slots."""

    def __init__(self, model: nn.Module) -> None:
        named = {**dict(model.named_parameters()), **dict(model.named_buffers())}
        names = {id(tensor): name for name, tensor in named.items()}
        self._slots: dict[str, list[Slot]] = {name: [] for name in named}
        for module in model.modules():
            for held in (module._parameters, module._buffers):
                for key, tensor in held.items():
                    if tensor is not None:
                        self._slots[names[id(tensor)]].append((cast("dict[str, Tensor]", held), key))

    @contextmanager
    def holding(self, tensors: Mapping[str, Tensor]) -> Iterator[None]:
        """These tensors stand for the module's own; what a call puts in their place is read by `held` within."""
        before = [(held, key, held[key]) for name in tensors for held, key in self._slots[name]]
        try:
            for name, tensor in tensors.items():
                for held, key in self._slots[name]:
                    held[key] = tensor
            yield
        finally:
            for held, key, tensor in before:
                held[key] = tensor

    def held(self, names: Sequence[str]) -> dict[str, Tensor]:
        """What stands in the slots of these names now."""
        return {name: held[key] for name in names for held, key in self._slots[name][:1]}
