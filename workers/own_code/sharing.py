"""Which parameters the terms of a user's problem share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from paretoscope.own import Problem
from workers.own_code.errors import at
from workers.own_code.functions import Function
from workers.own_code.slots import Slots


class Reach(NamedTuple):
    """The parameters that terms share, and of the others which term alone reaches each, where it is one."""

    shared: list[str]
    only: dict[str, int]
    reached: list[str]  # by any term


def reach_of(
    problem: Problem, terms: Sequence[str], model: nn.Module, losses: Function, batch: Any, folder: Path
) -> Reach:
    """Shared is what `shared(model)` says, else what more than one term reaches in this batch; of a single term all."""
    trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
    values = losses(model, batch)
    if not any(value.requires_grad for value in values):
        raise at(problem.losses, folder, "losses must depend on the parameters of the model, none of them does")
    by = _reaching(values, trained)
    reached = [name for name, reaching in by.items() if reaching]
    only = {name: reaching[0] for name, reaching in by.items() if len(reaching) == 1}
    if problem.shared is not None:
        return Reach(_said(problem, model, trained, folder), only, reached)
    if len(terms) == 1:
        return Reach(list(trained), {}, reached)
    shared = [name for name, reaching in by.items() if len(reaching) > 1]
    if not shared:
        named = ", ".join(terms)
        words = f"the terms {named} share no parameter, so there is nothing to weigh: each trains its own"
        raise at(problem.losses, folder, words)
    return Reach(shared, only, reached)


def check_slots(slots: Slots, losses: Function, model: nn.Module, batch: Any, reach: Reach, folder: Path) -> None:
    """That tensors put in the places of the model's parameters are what its losses depend on."""
    own = dict(model.named_parameters())
    others = {name: own[name].detach().clone().requires_grad_() for name in reach.reached}
    with slots.holding(others):
        by = _reaching(losses(model, batch), others)
    if kept := [name for name, reaching in by.items() if not reaching]:
        words = (
            f"the model keeps its parameter {kept[0]} in a second place, as in a list: ask the module for it instead"
        )
        raise at(type(model), folder, words)


def _reaching(values: Sequence[Tensor], parameters: Mapping[str, Tensor]) -> dict[str, list[int]]:
    """The terms that reach each parameter."""
    by: dict[str, list[int]] = {name: [] for name in parameters}
    for i, value in enumerate(values):
        if value.requires_grad:
            slopes = torch.autograd.grad(value, list(parameters.values()), retain_graph=True, allow_unused=True)
            for name, slope in zip(parameters, slopes, strict=True):
                if slope is not None:
                    by[name].append(i)
    return by


def _said(problem: Problem, model: nn.Module, trained: dict[str, nn.Parameter], folder: Path) -> list[str]:
    """Parameters by themselves, by their names, or by the name of a module that has them."""
    if problem.shared is None:
        return list(trained)
    by_id = {id(p): name for name, p in trained.items()}
    chosen: set[str] = set()
    for each in problem.shared(model):
        if isinstance(each, str):
            own = {name for name in trained if name == each or name.startswith(f"{each}.")}
        else:
            own = {by_id[id(each)]} if id(each) in by_id else set()
        if not own:
            what = repr(each) if isinstance(each, str) else type(each).__name__
            raise at(problem.shared, folder, f"shared gave {what}, which is no trained parameter of the model")
        chosen |= own
    if not chosen:
        raise at(problem.shared, folder, "shared gave no parameter, so there is nothing to weigh")
    return [name for name in trained if name in chosen]
