"""Weightings turn losses (and their Gram matrix) into weights: update = Σ_i w_i ∇ℓ_i.

`workers.weightings.<name>` holds a class named as in the contract, built from its members' parameters. A contract
class may name an `adapter` (module, class) instead, which serves many names.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from service.contract.methods.weightings import Weighting as Spec
from service.contract.wire.events import Where
from workers.state import Remembering, State, joined, within


class Setting(NamedTuple):
    """What a weighting may know besides its parameters."""

    terms: tuple[str, ...]
    latent: int
    device: torch.device
    seeds: tuple[int, ...] = ()  # of the members, in order; for those that draw random numbers
    batches: int = 1  # steps of an epoch
    raw: Callable[[Tensor], Tensor] = lambda losses: losses  # the terms before any transform, [..., n]
    epochs: int = 1
    by_beta: bool = False  # whether the second term is weighed by β against the first
    separable: bool = True  # whether a term is the mean of what each example has by itself


class Place(NamedTuple):
    """A place on the curves of models that are told where they are."""

    where: list[Where]  # of each member
    told: Tensor  # [m, 1, numbers]


class Weighting(Remembering, Protocol):
    """The weights of m members. Most need no hook but the call; `remembers` names what the steps change, if anything.

    The first term is the main one; for the bottleneck the prediction.
    """

    needs_gram: bool
    own_gram: bool = False  # whether `gram` is more than g gᵀ
    needs_halves: bool = False  # whether `gram` is to be given the share of half the batch
    own_direction: bool = False  # whether `direction` is more than g
    needs_validation: bool = False  # whether `after_epoch` is to be called

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor: ...  # [m, n], [m, n, n] -> [m, n]

    def gram(self, g: Tensor, half: Tensor | None = None) -> Tensor:
        """What the call gets, from the terms' gradients over the encoder: [m, n, P] -> [m, n, n].

        `half` is the part of g that every second example gives.
        """
        return torch.bmm(g, g.mT)

    def direction(self, g: Tensor) -> Tensor:
        """What the weights just given multiply [m, n, P]: the terms' gradients, or what came of them over time."""
        return g

    def told(self, epoch: int, step: int, rows: int) -> Tensor | None:
        """What the model is told with the coming batch: [m, G, numbers], each for one of G equal shares of its rows.

        Most tell nothing.
        """
        return None

    def by_example(self) -> Tensor | None:
        """Weights of each example of that batch [m, rows, n], where they differ: the call gives their means."""
        return None

    def middle(self) -> Tensor | None:
        """What the model is told where one place stands for its whole curve: [m, 1, numbers]."""
        return None

    def places(self) -> list[Place]:
        """Along the curve of a model that is told where it is; a model that is a single point has none."""
        return []

    def parameter_noise(self) -> Tensor | None:
        """Standard deviations [m] of the noise that every parameter gets after the step just weighed."""
        return None

    def report(self) -> dict[str, dict[int, float]]:
        """Metrics of its own after an epoch: their names, and the value of each member that has one."""
        return {}

    def anneal(self, share: Tensor | None) -> None:
        """From now on the weights of all terms but the first are so many times what they are: [m]; none: once."""
        return None

    def after_epoch(self, train: Tensor, validation: Tensor) -> None:
        """The mean of each term after the epoch, on training examples and on the validation split: both [m, n]."""
        return None


class Mixed(Weighting):
    """A cohort's members grouped by weighting; each group sees only its own rows."""

    def __init__(self, params: Sequence[Spec], setting: Setting) -> None:
        self._groups: list[tuple[Tensor, Weighting]] = []
        seeds = setting.seeds or (0,) * len(params)
        for rows in _grouped(params):
            group = _build([params[k] for k in rows], setting._replace(seeds=tuple(seeds[k] for k in rows)))
            self._groups.append((torch.tensor(rows, device=setting.device), group))
        self._members = len(params)
        self._share: Tensor | None = None  # of the terms in the weights, [m, n]
        self._terms = len(setting.terms)
        self.needs_gram = any(group.needs_gram for _, group in self._groups)
        self.own_gram = any(group.own_gram for _, group in self._groups)
        self.needs_halves = any(group.needs_halves for _, group in self._groups)
        self.own_direction = any(group.own_direction for _, group in self._groups)
        self.needs_validation = any(group.needs_validation for _, group in self._groups)

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        w = self._weights(losses, gram)
        return w if self._share is None else w * self._share.to(w)

    def _weights(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        if len(self._groups) == 1:
            return self._groups[0][1](losses, gram)
        w = torch.empty_like(losses)
        for rows, group in self._groups:
            own = gram.index_select(0, rows) if gram is not None and group.needs_gram else None
            w.index_copy_(0, rows, group(losses.index_select(0, rows), own))
        return w

    def gram(self, g: Tensor, half: Tensor | None = None) -> Tensor:
        if len(self._groups) == 1:
            return self._groups[0][1].gram(g, half)
        gram = torch.bmm(g, g.mT)
        for rows, group in self._groups:
            if group.own_gram:  # the others need no copy of their gradients
                own = None if half is None else half.index_select(0, rows)
                gram.index_copy_(0, rows, group.gram(g.index_select(0, rows), own))
        return gram

    def direction(self, g: Tensor) -> Tensor:
        if len(self._groups) == 1 or not self.own_direction:
            return self._groups[0][1].direction(g) if self.own_direction else g
        d = g.clone()
        for rows, group in self._groups:
            if group.own_direction:
                d.index_copy_(0, rows, group.direction(g.index_select(0, rows)))
        return d

    def told(self, epoch: int, step: int, rows: int) -> Tensor | None:
        return self._only().told(epoch, step, rows)

    def by_example(self) -> Tensor | None:
        w = self._only().by_example()
        return w if w is None or self._share is None else w * self._share[:, None].to(w)

    def anneal(self, share: Tensor | None) -> None:
        rest = None if share is None else share[:, None].expand(-1, self._terms - 1)
        self._share = None if rest is None else torch.cat((torch.ones_like(rest[:, :1]), rest), dim=1)

    def middle(self) -> Tensor | None:
        return self._only().middle()

    def places(self) -> list[Place]:
        return self._only().places()

    def _only(self) -> Weighting:
        """Members that are told something differ in shape from those that are not, so they train by themselves."""
        return self._groups[0][1]

    def parameter_noise(self) -> Tensor | None:
        total: Tensor | None = None
        for rows, group in self._groups:
            if (noise := group.parameter_noise()) is not None:
                total = noise.new_zeros(self._members) if total is None else total
                total.index_copy_(0, rows, noise)
        return total

    def report(self) -> dict[str, dict[int, float]]:
        metrics: dict[str, dict[int, float]] = {}
        for rows, group in self._groups:
            place = rows.tolist()
            for name, values in group.report().items():
                metrics.setdefault(name, {}).update({place[k]: value for k, value in values.items()})
        return metrics

    def state(self) -> State:
        return joined({str(i): group.state() for i, (_, group) in enumerate(self._groups)})

    def load(self, state: State) -> None:
        for i, (_, group) in enumerate(self._groups):
            group.load(within(str(i), state))

    def after_epoch(self, train: Tensor, validation: Tensor) -> None:
        for rows, group in self._groups:
            if group.needs_validation:
                group.after_epoch(train.index_select(0, rows), validation.index_select(0, rows))


def build(params: Sequence[Spec], setting: Setting) -> Weighting:
    """One weighting for a cohort whose members may each name their own."""
    return Mixed(params, setting)


def of_members(params: Sequence[Spec], state: State, rows: Sequence[int]) -> State:
    """The state of some members of a cohort with these weightings, as one that was built of them alone has it."""
    chosen = [params[k] for k in rows]
    groups = {params[own[0]].name: (str(i), own) for i, own in enumerate(_grouped(params))}
    parts: dict[str, State] = {}
    for i, group in enumerate(_grouped(chosen)):
        before, members = groups[chosen[group[0]].name]
        own_rows = [members.index(rows[place]) for place in group]
        parts[str(i)] = _kind(chosen[group[0]]).of_members(within(before, state), own_rows)
    return joined(parts)


def _grouped(params: Sequence[Spec]) -> list[list[int]]:
    """The members of each weighting, in the order of their first."""
    names = dict.fromkeys(p.name for p in params)
    return [[k for k, p in enumerate(params) if p.name == name] for name in names]


def _build(params: Sequence[Spec], setting: Setting) -> Weighting:
    weighting: Weighting = _kind(params[0])(params, setting)
    return weighting


def _kind(params: Spec) -> Any:
    """The class of the weighting that these parameters are of."""
    kind = type(params)
    module, name = getattr(kind, "adapter", (params.name.replace("-", "_"), kind.__name__))
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)
