"""The optimisers that a user's problem makes: one of torch's for each member, in the memory that members share.

Losses and gradients stay stacked where they are; only the steps are taken one member after the other.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from workers.models.components.stack import Stack
from workers.optimizers.stacking.stacked import Optimizer
from workers.own_code.errors import at
from workers.own_code.members import Members
from workers.state import State


class OwnOptimizers(Optimizer):
    """`make(parameters)` called once per member."""

    def __init__(self, make: Callable[..., Any], members: Members, folder: Path) -> None:
        self._stacks = members.stacks
        self._leaves = [[leaf.detach()[k].requires_grad_() for leaf in members.leaves] for k in range(members.count)]
        self._each = [_checked(make, leaves, folder) for leaves in self._leaves]
        self._rates = [[group["lr"] for group in each.param_groups] for each in self._each]

    def step(self, gradients: Sequence[Tensor]) -> None:
        pieces = [g for stack, flat in zip(self._stacks, gradients, strict=True) for g in _cut(stack, flat)]
        for k, (each, leaves) in enumerate(zip(self._each, self._leaves, strict=True)):
            for leaf, g in zip(leaves, pieces, strict=True):
                leaf.grad = g[k]
            each.step()

    def set_pace(self, factor: Tensor) -> None:
        """The learning rates that the user gave, times each member's factor [K]."""
        for each, rates, own in zip(self._each, self._rates, factor.tolist(), strict=True):
            for group, rate in zip(each.param_groups, rates, strict=True):
                group["lr"] = rate * own

    def state(self) -> State:
        """As torch packs it: what an optimiser keeps is its own affair."""
        return {f"own.{k}": _packed(each.state_dict()) for k, each in enumerate(self._each)}

    def load(self, state: State) -> None:
        for k, each in enumerate(self._each):
            each.load_state_dict(torch.load(io.BytesIO(state[f"own.{k}"].cpu().numpy().tobytes()), weights_only=True))


def _checked(make: Callable[..., Any], leaves: list[Tensor], folder: Path) -> torch.optim.Optimizer:
    made = make(leaves)
    if not isinstance(made, torch.optim.Optimizer):
        raise at(make, folder, f"optimizer must give a torch.optim.Optimizer, got {type(made).__name__}")
    known = {id(leaf) for leaf in leaves}
    if not all(id(p) in known for group in made.param_groups for p in group["params"]):
        raise at(make, folder, "optimizer must be given the parameters that it is called with, it has others")
    if isinstance(made, torch.optim.LBFGS):
        raise at(make, folder, "optimizer LBFGS evaluates the losses again within a step, which is not possible here")
    return made


def _cut(stack: Stack, flat: Tensor) -> list[Tensor]:
    """Gradients [K, P] as those of each leaf [K, …]."""
    sizes = [leaf[0].numel() for leaf in stack.leaves]
    pieces = torch.split(flat, sizes, dim=1) if sizes else ()
    return [piece.reshape(leaf.shape) for piece, leaf in zip(pieces, stack.leaves, strict=True)]


def _packed(kept: dict[str, object]) -> Tensor:
    buffer = io.BytesIO()
    torch.save(kept, buffer)
    return torch.frombuffer(bytearray(buffer.getvalue()), dtype=torch.uint8)
