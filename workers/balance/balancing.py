"""Balancing of units, layers and networks, in place.

A unit with f(λx) = λ^c f(x) keeps its part in the network when IN is multiplied by λ > 0 and OUT divided by λ^c.
Σ|w|^p is then least at λ = (c ΣOUT / ΣIN)^{1/(p(c+1))} with the sums of |w|^p, i.e. where c ΣOUT = ΣIN. ReLU, leaky
ReLU and linear units have c = 1. Tied layers without biases end at M_i = Π_j‖A_j‖^{1/N} / ‖A_i‖ (the paper's eq. 51
prints M_i²).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from workers.balance.orders import Visit, in_turn
from workers.balance.pairs import Pair

TOLERANCE = 1e-3  # of log(c^{1/p} ‖OUT‖_p / ‖IN‖_p), of every unit
MOST_SWEEPS = 1000

Rows = Tensor | slice  # which members


@torch.no_grad()
def cost(parameters: Sequence[Tensor], p: float) -> Tensor:
    """Σ|w|^p per member, of tensors [K, …]: [K], in double precision."""
    return torch.stack([t.double().abs().pow(p).flatten(1).sum(1) for t in parameters]).sum(0)


@torch.no_grad()
def imbalance(pair: Pair, p: float, tied: bool = False) -> Tensor:
    """How far the pair's least balanced unit is off: max |log(c^{1/p} ‖OUT‖_p / ‖IN‖_p)| over living units, [K]."""
    return _log_ratio(pair, None, slice(None), p, tied or pair.whole).abs().amax(1)


@torch.no_grad()
def sweep(visits: Sequence[Visit], p: float, tied: bool = False, rows: Rows = slice(None)) -> None:
    """Balance each visited unit of the members `rows`; `tied` gives all units of a layer one λ."""
    for pair, unit in visits:
        scale = _log_ratio(pair, unit, rows, p, tied or pair.whole).div_(pair.c + 1).exp_()  # λ: [rows, units]
        own = _units(unit)
        for t in pair.into:
            _multiply(t, rows, own, scale)
        for t in pair.out:
            _multiply(t, rows, own, scale.pow(-pair.c))
        if pair.loop is not None and not tied:
            # A self-loop is multiplied and divided: left alone, so that rounding cannot move it.
            loops = pair.loop.diagonal(dim1=1, dim2=2)
            kept = loops.clone()
            _multiply(pair.loop.mT, rows, own, scale)
            _multiply(pair.loop, rows, own, 1 / scale)
            loops.copy_(kept)


@torch.no_grad()
def full(
    pairs: Sequence[Pair],
    p: float,
    tied: bool = False,
    order: Callable[[], Sequence[Visit]] | None = None,
    tolerance: float = TOLERANCE,
    most: int = MOST_SWEEPS,
    members: Tensor | None = None,
) -> Tensor:
    """Sweep until every unit is within `tolerance`, `most` times at the most: sweeps of each member, [K].

    A member that is balanced rests while others go on, so its weights are those it would have alone. `members` [K] says
    who is balanced at all, `order` what is visited in a sweep.
    """
    sweeps = torch.zeros(len(pairs[0].out[0]) if pairs else 0, dtype=torch.long)
    for _ in range(most if pairs else 0):
        off = torch.stack([imbalance(pair, p, tied) for pair in pairs]).amax(0) > tolerance  # [K]
        if members is not None:
            off &= members
        if not off.any():
            break
        rows = slice(None) if off.all() else off.nonzero()[:, 0]
        sweep(order() if order else in_turn(pairs, tied), p, tied, rows)
        sweeps += off.cpu()
    return sweeps


def _multiply(t: Tensor, rows: Rows, units: slice, scale: Tensor) -> None:
    t[rows, units] *= scale.to(t.dtype).view(*scale.shape, *[1] * (t.dim() - 2))


def _log_ratio(pair: Pair, unit: int | None, rows: Rows, p: float, tied: bool) -> Tensor:
    """log(c^{1/p} ‖OUT‖_p / ‖IN‖_p) of each unit (tied: one for all) in double precision; 0 of dead ones."""
    if not 0 < p < math.inf:
        raise ValueError(f"p of a balance must be above 0, got {p!r}")
    own = _units(unit)
    into, out = ([t[rows, own] for t in side] for side in (pair.into, pair.out))
    if pair.loop is not None and not tied:  # one λ for all leaves the weights between the units as they are
        into.append(_without_self(pair.loop.mT[rows, own], own))
        out.append(_without_self(pair.loop[rows, own], own))
    ratio = _log_norm(out, p, tied) - _log_norm(into, p, tied) + math.log(pair.c) / p
    # Nothing to weigh against: a dead unit stays, and so does one whose weights are no numbers.
    return torch.where(ratio.isfinite(), ratio, 0)


def _units(unit: int | None) -> slice:
    return slice(None) if unit is None else slice(unit, unit + 1)


def _without_self(loop: Tensor, own: slice) -> Tensor:
    """The weights [rows, own, units] between units, 0 where a unit meets itself."""
    units = torch.arange(loop.shape[2], device=loop.device)
    return loop.masked_fill(units[own, None] == units, 0)


def _log_norm(side: Sequence[Tensor], p: float, tied: bool) -> Tensor:
    """log ‖w‖_p per unit of all tensors together (tied: over all units), −∞ where all are 0."""
    logs = torch.stack([_log_norm_of_one(t.flatten(2), p) for t in side])  # [tensors, rows, units]
    if tied:
        logs = logs.transpose(1, 2).flatten(0, 1)[:, :, None]
    return torch.logsumexp(logs * p, 0) / p


def _log_norm_of_one(w: Tensor, p: float) -> Tensor:
    if 0.1 <= p <= 10:
        norm: Tensor = torch.linalg.vector_norm(w, p, dim=2, dtype=torch.float64)
        return norm.log()
    return torch.logsumexp(w.double().abs().log() * p, 2) / p  # slower, but no p leaves the range of numbers
