"""Weightings turn losses (and their Gram matrix) into weights: update = Σ_i w_i ∇ℓ_i.

`workers.weightings.<name>` holds a class named as in the contract, built from its members' parameters. A contract
class may name an `adapter` (module, class) instead, which serves many names.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from service.contract.weightings import Weighting as Spec


class Setting(NamedTuple):
    """What a weighting may know besides its parameters."""

    terms: tuple[str, ...]
    latent: int
    device: torch.device
    seeds: tuple[int, ...] = ()  # of the members, in order; for those that draw random numbers
    batches: int = 1  # steps of an epoch
    raw: Callable[[Tensor], Tensor] = lambda losses: losses  # the terms before any transform, [..., n]


class Weighting(Protocol):
    """The weights of m members; state, if any, is its own."""

    needs_gram: bool

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor: ...  # [m, n], [m, n, n] -> [m, n]


class Mixed:
    """A cohort's members grouped by weighting; each group sees only its own rows."""

    def __init__(self, params: Sequence[Spec], setting: Setting) -> None:
        self._groups: list[tuple[Tensor, Weighting]] = []
        seeds = setting.seeds or (0,) * len(params)
        for name in dict.fromkeys(p.name for p in params):
            rows = [k for k, p in enumerate(params) if p.name == name]
            group = _build([params[k] for k in rows], setting._replace(seeds=tuple(seeds[k] for k in rows)))
            self._groups.append((torch.tensor(rows, device=setting.device), group))
        self.needs_gram = any(group.needs_gram for _, group in self._groups)

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        if len(self._groups) == 1:
            return self._groups[0][1](losses, gram)
        w = torch.empty_like(losses)
        for rows, group in self._groups:
            own = gram.index_select(0, rows) if gram is not None and group.needs_gram else None
            w.index_copy_(0, rows, group(losses.index_select(0, rows), own))
        return w


def build(params: Sequence[Spec], setting: Setting) -> Weighting:
    """One weighting for a cohort whose members may each name their own."""
    return Mixed(params, setting)


def _build(params: Sequence[Spec], setting: Setting) -> Weighting:
    kind = type(params[0])
    own = (params[0].name.replace("-", "_"), kind.__name__)
    module, name = getattr(kind, "adapter", own)
    weighting: Weighting = getattr(importlib.import_module(f"{__name__}.{module}"), name)(params, setting)
    return weighting
