"""A stacked model of one member that computes with tensors which are lent to it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor

from service.contract.methods.models import Model as Spec
from workers import models
from workers.data.random_streams import Seeds
from workers.models import Model, Sizes


class _Leaf(NamedTuple):
    """Where a named tensor belongs, and how its axes lie there."""

    stack: int  # of the encoder, of the heads
    place: int
    axes: tuple[int, ...]
    shape: tuple[int, ...]  # [1, …]


class Borrower:
    """Has the layers of a model and no weights of its own. Serves one caller after the other.

    Names and shapes are those of `Model.named`, so of a checkpoint. They are views of the leaves, from which it is read
    off how each leaf is a view of a tensor laid out as the checkpoint's.
    """

    def __init__(self, spec: Spec, sizes: Sizes) -> None:
        self._model = models.build(spec, sizes, Seeds([0], torch.device("cpu")))
        self._stacks = (self._model.encoder, self._model.head)
        self._lock = threading.Lock()
        places = {
            leaf.data_ptr(): (s, i) for s, stack in enumerate(self._stacks) for i, leaf in enumerate(stack.leaves)
        }
        named = {name: tensor[0] for name, tensor in self._model.named().items()}
        self.shapes = {name: tensor.shape for name, tensor in named.items()}
        self._leaves: dict[str, _Leaf] = {}
        for name, tensor in named.items():
            if tensor.data_ptr() in places:
                s, i = places[tensor.data_ptr()]
                axes = tuple(sorted(range(tensor.dim()), key=tensor.stride().__getitem__, reverse=True))
                self._leaves[name] = _Leaf(s, i, axes, tuple(self._stacks[s].leaves[i].shape))
        kept: dict[str, Tensor] = getattr(self._model, "buffers", {})  # running statistics, which no gradient trains
        names = {buffer.data_ptr(): own for own, buffer in kept.items()}
        self._buffers = {name: names[named[name].data_ptr()] for name in named.keys() - self._leaves.keys()}
        self._kept = kept
        for stack in self._stacks:
            stack.flat, stack.leaves = stack.flat.new_empty(0), [torch.empty(0)] * len(stack.leaves)

    @property
    def trained(self) -> set[str]:
        """What a gradient may change."""
        return set(self._leaves)

    @contextmanager
    def lent(self, tensors: Mapping[str, Tensor], training: bool) -> Iterator[Model]:
        """The model with these weights, for as long as they are lent; gradients go to them."""
        with self._lock:
            for name, leaf in self._leaves.items():
                self._stacks[leaf.stack].leaves[leaf.place] = tensors[name].permute(leaf.axes).reshape(leaf.shape)
            self._kept.update({own: tensors[name] for name, own in self._buffers.items()})
            self._model.train(training)
            try:
                yield self._model
            finally:
                for stack in self._stacks:
                    stack.leaves[:] = [torch.empty(0)] * len(stack.leaves)
