"""Runs a function of the user's for all members, in one of two ways: all at once under vmap, or one after the other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor
from torch.func import vmap

from workers.own_code.all_at_once import AllAtOnce
from workers.own_code.answers import Answered
from workers.own_code.attributes import OfMembers
from workers.own_code.forms import Form, put_together
from workers.own_code.functions import Function
from workers.own_code.members import Members
from workers.own_code.memory import at_boundary
from workers.own_code.randomness import Noise, OthersNumbers


class Batch(NamedTuple):
    """A step of a pass: columns [K, B, …], the pass's random numbers, and whose of them is each member's [K].

    Requests for them are answered unless it is known that there are none: listening costs time with every operation.
    """

    columns: Sequence[Tensor]
    form: Form | None  # in which the user's function takes the columns; none: the only one by itself
    noise: Noise
    draws: Tensor
    step: int
    places: slice  # of its rows in the pass
    answered: bool = True

    @property
    def rows(self) -> int:
        return self.columns[0].shape[1]

    def of(self, columns: Sequence[Tensor]) -> Any:
        """As the user's function takes it."""
        return put_together(self.form, columns)

    def half(self) -> Batch:
        """Every second example, with the random numbers that it has in the whole."""
        columns = [column[:, ::2] for column in self.columns]
        return self._replace(columns=columns, places=slice(self.places.start, self.places.stop, 2))

    def begin(self, draw: int | None = None) -> None:
        """Before the function runs for one of the seeds, or for all at once."""
        self.noise.move(self.step, self.places)
        self.noise.begin(draw)

    def answering(self, draw: Tensor | int) -> AbstractContextManager[object]:
        """While a member's function runs."""
        return Answered(self.noise, draw) if self.answered else nullcontext()


class Way(Protocol):
    """Values of a function for every member, and their gradients. Both ways give the same to float tolerance."""

    same_flow: bool  # whether every batch is computed as the first was, so that a term reaches what it reached there

    def run(self, function: Function, batch: Batch) -> list[Tensor]:
        """What the function gives, [K] each, differentiable in the members' leaves."""
        ...

    def pull(
        self, terms: Mapping[int, Tensor | None], leaves: slice = slice(None), retain: bool = False
    ) -> list[Tensor]:
        """Σ_i c_i ∇ℓ_i of the last run over some of the leaves, [K, …] each: cotangents [K] by term, none for 1."""
        ...


class Stacked(Way):
    """`vmap` over stacked parameters and buffers. A random function that is not answered raises, numpy's too."""

    same_flow = True  # vmap takes no branch on a tensor's values

    def __init__(self, members: Members) -> None:
        self._members = members
        self._values: list[Tensor] = []
        self._listeners: dict[Function, AllAtOnce] = {}

    def run(self, function: Function, batch: Batch) -> list[Tensor]:
        members = self._members
        names = [*members.names, *members.buffers]
        listening = self._listening(function, batch)

        def one(draw: Tensor, *tensors: Tensor) -> tuple[Tensor, ...]:
            held, columns = dict(zip(names, tensors, strict=False)), tensors[len(names) :]
            with members.slots.holding(held), listening(draw):
                values = function(members.model, batch.of(columns))
                return (*values, *members.slots.held(list(members.buffers)).values())

        members.alive()
        batch.begin()
        others = OthersNumbers()
        # All in one row: taking nested arguments apart takes as long as some of the operations.
        with _unchecked_distributions():
            given = vmap(one, randomness="error")(
                batch.draws, *members.leaves, *members.buffers.values(), *batch.columns
            )
        others.check()
        count = len(given) - len(members.buffers)
        with torch.no_grad():
            for tensor, after in zip(members.buffers.values(), given[count:], strict=True):
                if after.data_ptr() != tensor.data_ptr():
                    tensor.copy_(after)
        self._values = list(given[:count])
        return self._values

    def _listening(self, function: Function, batch: Batch) -> Callable[[Tensor], AbstractContextManager[object]]:
        """For random numbers, and for what is computed for all at once, unless it is known that there is none."""
        if batch.answered:
            return batch.answering
        before = self._listeners.get(function)
        if before is not None and not before.met:
            return lambda draw: nullcontext()
        listener = self._listeners.setdefault(function, AllAtOnce())
        return lambda draw: listener

    def pull(
        self, terms: Mapping[int, Tensor | None], leaves: slice = slice(None), retain: bool = False
    ) -> list[Tensor]:
        return _pulled(self._values, terms, self._members.leaves[leaves], retain)


class OneByOne(Way):
    """A loop over members; each has leaves of its own in the same memory."""

    same_flow = False

    def __init__(self, members: Members) -> None:
        self._members = members
        self._leaves = [[leaf.detach()[k].requires_grad_() for leaf in members.leaves] for k in range(members.count)]
        self._values: list[tuple[Tensor, ...]] = []  # of each member
        self.kept = OfMembers(members.attributes, members.count)

    def run(self, function: Function, batch: Batch) -> list[Tensor]:
        draws = batch.draws.tolist()
        self._values = [self._one(k, draws[k], function, batch) for k in range(self._members.count)]
        return [torch.stack(values) for values in zip(*self._values, strict=True)]

    def _one(self, k: int, draw: int, function: Function, batch: Batch) -> tuple[Tensor, ...]:
        members = self._members
        buffers = {name: tensor[k] for name, tensor in members.buffers.items()}
        held = dict(zip(members.names, self._leaves[k], strict=True))
        held |= {name: tensor if name in members.frozen else tensor.clone() for name, tensor in buffers.items()}
        members.alive()
        batch.begin(draw)
        with members.slots.holding(held), batch.answering(draw), self.kept.of(k):
            values = function(members.model, batch.of([at_boundary(column[k]) for column in batch.columns]))
            after = members.slots.held(list(buffers))
        with torch.no_grad():
            for name, tensor in buffers.items():
                if after[name] is not tensor:
                    tensor.data.copy_(after[name])  # no graph holds this memory, the function had a copy
        return values

    def pull(
        self, terms: Mapping[int, Tensor | None], leaves: slice = slice(None), retain: bool = False
    ) -> list[Tensor]:
        each = []
        for k, (values, own) in enumerate(zip(self._values, self._leaves, strict=True)):
            cotangents = {i: None if c is None else c[k] for i, c in terms.items()}
            each.append(_pulled(values, cotangents, own[leaves], retain))
        return [torch.stack(gradients) for gradients in zip(*each, strict=True)]


def _pulled(
    values: Sequence[Tensor], terms: Mapping[int, Tensor | None], leaves: Sequence[Tensor], retain: bool
) -> list[Tensor]:
    """A term that depends on no leaf, and a leaf that no term reaches, count as 0."""
    reaching = {i: c for i, c in terms.items() if values[i].requires_grad}
    if not reaching or not leaves:
        return [torch.zeros_like(leaf) for leaf in leaves]
    outputs = [values[i] for i in reaching]
    cotangents = [torch.ones_like(values[i]) if c is None else c.to(values[i]) for i, c in reaching.items()]
    slopes = torch.autograd.grad(outputs, leaves, cotangents, retain_graph=retain, allow_unused=True)
    return [torch.zeros_like(leaf) if g is None else g for g, leaf in zip(slopes, leaves, strict=True)]


@contextmanager
def _unchecked_distributions() -> Iterator[None]:
    """Distributions check their arguments by branching on values, which vmap cannot; alone they are checked."""
    module = sys.modules.get("torch.distributions.distribution")
    if module is None:
        yield
        return
    kind = module.Distribution
    before = kind._validate_args
    kind.set_default_validate_args(False)
    try:
        yield
    finally:
        kind.set_default_validate_args(before)
