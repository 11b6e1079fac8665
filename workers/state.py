"""What a training has to remember to go on: named tensors and nothing else, so that a safetensors file holds it all.

A class names the attributes that its steps change; those that follow from its parameters are built again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import torch
from torch import Tensor

State = dict[str, Tensor]


def of(owner: object, names: Sequence[str]) -> State:
    """The attributes of these names: tensors, whole numbers, lists of tensors; one that is none is left out."""
    state: State = {}
    for name in names:
        value = getattr(owner, name)
        if isinstance(value, list):
            state |= {f"{name}.{i}": each for i, each in enumerate(value)}
        elif value is not None:
            state[name] = value if isinstance(value, Tensor) else torch.tensor(value)
    return state


def put(owner: object, names: Sequence[str], state: State) -> None:
    """Back into an object that was just built: its own values say of what kind each is."""
    for name in names:
        fresh = getattr(owner, name)
        if isinstance(fresh, list):
            part = within(name, state)
            setattr(owner, name, [part[str(i)] for i in range(len(part))])
        elif isinstance(fresh, int):
            setattr(owner, name, int(state[name]))
        else:
            setattr(owner, name, state.get(name))


def joined(parts: Mapping[str, State]) -> State:
    """The states of several parts as one, each below its part's name."""
    return {f"{part}.{name}": tensor for part, state in parts.items() for name, tensor in state.items()}


def within(prefix: str, state: State) -> State:
    """One part of what was joined."""
    start = f"{prefix}."
    return {name.removeprefix(start): tensor for name, tensor in state.items() if name.startswith(start)}


def of_members(state: State, rows: Sequence[int], second: Sequence[str] = ()) -> State:
    """What the members of these numbers remember, of tensors [K, …]; what has no axis, they all share.

    `second` names tensors, and lists of them, that are [·, K, …].
    """

    def chosen(name: str, tensor: Tensor) -> Tensor:
        axis = int(name.partition(".")[0] in second)
        return tensor.index_select(axis, torch.tensor(rows, device=tensor.device)) if tensor.dim() else tensor

    return {name: chosen(name, tensor) for name, tensor in state.items()}


def copy_into(tensors: Mapping[str, Tensor], state: State, what: str) -> None:
    """Into memory that others hold views of."""
    if tensors.keys() != state.keys():
        lacks, has = sorted(tensors.keys() - state.keys()), sorted(state.keys() - tensors.keys())
        raise ValueError(f"the saved state is of another {what}: it lacks {lacks} and has {has}")
    with torch.no_grad():
        for name, tensor in tensors.items():
            tensor.copy_(state[name])


class Remembering(Protocol):
    """State that is some attributes of an object."""

    remembers: tuple[str, ...] = ()
    members_second: tuple[str, ...] = ()  # those of them that are [·, K, …]

    def state(self) -> State:
        return of(self, self.remembers)

    def load(self, state: State) -> None:
        put(self, self.remembers, state)

    @classmethod
    def of_members(cls, state: State, rows: Sequence[int]) -> State:
        """The state of some of its members, as if they had been alone."""
        return of_members(state, rows, cls.members_second)
