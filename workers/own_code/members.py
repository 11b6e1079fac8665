"""The models of a cohort: every parameter and buffer of K members in one tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from paretoscope.own import Problem
from workers.data.random_streams import Seeds
from workers.models.components.stack import Stack
from workers.own_code.attributes import Attributes
from workers.own_code.errors import CodeError
from workers.own_code.memory import in_rows
from workers.own_code.randomness import seeded
from workers.own_code.slots import Slots
from workers.state import State, copy_into


class Members:
    """K members of one architecture. `shared` and `own` are set once it is known which terms reach what."""

    def __init__(
        self, problem: Problem, seeds: Seeds, first_batch: Any, alive: Callable[[], None] | None = None
    ) -> None:
        """A member's first weights are those of `torch.manual_seed(seed); problem.model()`, whatever its cohort.

        `first_batch` gives the batch by which lazy modules learn their shapes, by the number of a distinct seed.
        `alive` is called before the user's functions are.
        """
        self.count, self.alive = seeds.members, alive or _nothing
        self.model: nn.Module
        each: list[dict[str, Tensor]] = []
        for s, seed in enumerate(seeds.distinct):
            with seeded(seed):
                model = _built(problem)
                if any(nn.parameter.is_lazy(p) for p in model.parameters()):
                    with torch.no_grad():
                        problem.losses(model, first_batch(s))
            model.to(seeds.device)
            each.append({name: t.detach() for name, t in _tensors(model).items()})
            if s == 0:
                self.model = model
        names = dict(self.model.named_parameters())
        for seed, tensors in zip(seeds.distinct, each, strict=True):
            _check_alike(each[0], tensors, seeds.distinct[0], seed)
        rows = {name: seeds.spread(torch.stack([tensors[name] for tensors in each])) for name in each[0]}
        self.trained = {name: rows[name] for name, p in names.items() if p.requires_grad}  # [K, …]
        if not self.trained:
            raise CodeError("model has no parameter that can be trained")
        kinds = {tensor.dtype for tensor in self.trained.values()}
        if len(kinds) > 1 or not next(iter(kinds)).is_floating_point:
            raise CodeError(f"the parameters of model must be of one floating type, got {sorted(map(str, kinds))}")
        # What is not trained: frozen parameters, and buffers, which a forward pass may change. These are in one block:
        # batch norm under vmap would else write its statistics into a copy.
        self.frozen = {name for name in names if name not in self.trained}
        self.buffers = {
            name: in_rows(t) if name in self.frozen else t.clone(memory_format=torch.contiguous_format)
            for name, t in rows.items()
            if name not in self.trained
        }
        self._kept = set(self.model.state_dict())
        self.slots = Slots(self.model)
        self.attributes = Attributes(problem, self.model)
        self.shared_names: list[str] = []
        self.own_names: list[str] = []
        self.own_terms: list[int] | None = None  # by which each of `own` is reached; none: not by one each

    def divide(self, shared: Iterable[str], only: Mapping[str, int]) -> None:
        """Into the parameters that terms share, and the others, each of which one term reaches, if `only` knows it."""
        wanted = set(shared)
        self.shared_names = [name for name in self.trained if name in wanted]
        self.own_names = [name for name in self.trained if name not in wanted]
        self.shared, self.own = self._stack(self.shared_names), self._stack(self.own_names)
        own_terms = [only.get(name) for name in self.own_names]
        self.own_terms = [i for i in own_terms if i is not None] if None not in own_terms else None
        self.trained = dict(zip(self.names, (leaf.detach() for leaf in self.leaves), strict=True))

    @property
    def names(self) -> list[str]:
        return [*self.shared_names, *self.own_names]

    @property
    def leaves(self) -> list[Tensor]:
        """Parameters [K, …] that take gradients, in the order of `names`."""
        return [*self.shared.leaves, *self.own.leaves]

    @property
    def stacks(self) -> tuple[Stack, Stack]:
        return self.shared, self.own

    def of_member(self, k: int) -> Mapping[str, Tensor]:
        """Views of everything that one member has."""
        return {name: tensor[k] for name, tensor in (self.trained | self.buffers).items()}

    def named(self) -> dict[str, Tensor]:
        """Of all members [K, …], by the names of the module's `state_dict`."""
        return {name: tensor for name, tensor in (self.trained | self.buffers).items() if name in self._kept}

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Buffers are afterwards what they were: a pass that only looks must not count for statistics."""
        before = {name: tensor.clone() for name, tensor in self.buffers.items()}
        try:
            yield
        finally:
            for name, tensor in before.items():
                self.buffers[name].data.copy_(tensor)

    def train(self, on: bool) -> None:
        self.model.train(on)

    def state(self) -> State:
        return self.trained | self.buffers

    def load(self, state: State) -> None:
        copy_into(self.state(), state, "model")

    def _stack(self, names: list[str]) -> Stack:
        shapes = [tuple(self.trained[name].shape[1:]) for name in names]
        rows = [self.trained[name].reshape(self.count, -1) for name in names]
        first = next(iter(self.trained.values()))
        flat = torch.cat(rows, dim=1) if rows else first.new_zeros(self.count, 0)
        return Stack(in_rows(flat), shapes)


def _nothing() -> None:
    return None


def _built(problem: Problem) -> nn.Module:
    model = problem.model()
    if not isinstance(model, nn.Module):
        raise CodeError(f"model must give a torch.nn.Module, got {type(model).__name__}")
    return model


def _tensors(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers, each once: tied ones have the first of their names."""
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


def _check_alike(first: Mapping[str, Tensor], other: Mapping[str, Tensor], seed: int, other_seed: int) -> None:
    shapes, others = ({name: tuple(t.shape) for name, t in tensors.items()} for tensors in (first, other))
    if shapes != others:
        name = next(name for name in {**shapes, **others} if shapes.get(name) != others.get(name))
        raise CodeError(
            f"model must have the same shapes for every seed: {name} is {shapes.get(name)} with seed {seed}, "
            f"{others.get(name)} with seed {other_seed}"
        )
