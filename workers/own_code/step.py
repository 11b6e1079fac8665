"""The step of a user's problem: terms, their gradients, weights, and one update per member.

Shared parameters descend along Σ w_i g_i, those of a single term along its plain gradient, as in
`workers.training.gradients`. There is no place where a user's graph could be cut, so every gradient is a pass of its
own: without a Gram matrix one for the shared and one for the other parameters, with it one per term.
"""

from __future__ import annotations

import torch
from torch import Tensor

from workers.models.components.stack import Stack
from workers.own_code.functions import Function
from workers.own_code.jacobian import HELD, fits
from workers.own_code.members import Members
from workers.own_code.running_members import Batch, Way
from workers.training.gradients import Step
from workers.weightings import Weighting

TINY = 1e-6  # a weight by which nothing is divided


def step(
    way: Way,
    members: Members,
    losses: Function,
    weighting: Weighting,
    batch: Batch,
    watched: bool = False,
    held: int = HELD,
) -> Step:
    """Losses, weights and gradients of one batch; changes no parameter. Where `watched`, with the Gram matrix."""
    values = torch.stack(way.run(losses, batch), dim=1)  # [K, n]
    seen = values.detach().to(members.shared.flat.dtype)
    n = seen.shape[1]
    if not (weighting.needs_gram or watched):
        w = weighting(seen, None)
        return Step(seen, w, *_updates(way, members, w))
    if fits(members, n, held) or weighting.own_gram:
        g, own = _term_gradients(way, members, n)
        gram = plain = torch.bmm(g, g.mT)
        if weighting.own_gram:
            half = [_half_gradients(way, members, losses, batch, n)] if weighting.needs_halves else []
            gram = weighting.gram(g, *half)
        w = weighting(seen, gram if weighting.needs_gram else None)
        return Step(seen, w, torch.bmm(w[:, None].to(g), weighting.direction(g))[:, 0], own, plain)
    gram = _gram_by_leaves(way, members, n, held)
    w = weighting(seen, gram if weighting.needs_gram else None)
    return Step(seen, w, *_updates(way, members, w), gram)


def _updates(way: Way, members: Members, w: Tensor) -> tuple[Tensor, Tensor]:
    """Σ w_i g_i over the shared parameters [K, P], Σ g_i over the others [K, Q].

    What only term i reaches has w_i g_i in the first sum: one pass and a division, unless w_i is 0 or nearly so.
    """
    cut, terms = len(members.shared.leaves), members.own_terms
    weighed: dict[int, Tensor | None] = dict(enumerate(w.unbind(1)))
    if way.same_flow and terms:
        divisors = {i: _divisor(w[:, i]) for i in set(terms)}
        if None not in divisors.values():
            slopes = way.pull(weighed)
            own = [_divided(g, divisors[i]) for g, i in zip(slopes[cut:], terms, strict=True)]
            return Stack.flatten(slopes[:cut]), Stack.flatten(own)
    plain: dict[int, Tensor | None] = dict.fromkeys(range(w.shape[1]))
    own = way.pull(plain, slice(cut, None), retain=True)
    return Stack.flatten(way.pull(weighed, slice(cut))), _flat(own, members.own)


def _divisor(w: Tensor) -> Tensor | float | None:
    """Weights [K] to divide by: 1 where all are, none where one is 0 or nearly so."""
    weights = w.tolist()
    if all(each == 1 for each in weights):
        return 1.0
    return w if all(abs(each) > TINY for each in weights) else None


def _divided(g: Tensor, w: Tensor | float | None) -> Tensor:
    return g / w.to(g).view(-1, *[1] * (g.dim() - 1)) if isinstance(w, Tensor) else g


def _term_gradients(way: Way, members: Members, n: int) -> tuple[Tensor, Tensor]:
    """One pass per term: gradients over the shared parameters [K, n, P], and over the others their sum [K, Q]."""
    cut = len(members.shared.leaves)
    own = torch.zeros_like(members.own.flat)
    each = []
    for i in range(n):
        slopes = way.pull({i: None}, retain=i + 1 < n)
        each.append(_flat(slopes[:cut], members.shared))
        if members.own.leaves:
            own += _flat(slopes[cut:], members.own)
    return torch.stack(each, dim=1), own


def _half_gradients(way: Way, members: Members, losses: Function, batch: Batch, n: int) -> Tensor:
    """The part of g that every second example gives [K, n, P], where a term is a mean over examples."""
    half = batch.half()
    with members.unchanged():
        way.run(losses, half)
    share = half.rows / batch.rows if batch.rows > 1 else 0.5  # a single example is its own other half
    return _term_gradients(way, members, n)[0] * share


def _gram_by_leaves(way: Way, members: Members, n: int, held: int) -> Tensor:
    """g gᵀ [K, n, n] as a sum over groups of leaves whose gradients fit: more passes, less memory."""
    gram: Tensor | None = None
    for leaves in groups([n * leaf.numel() for leaf in members.shared.leaves], held):
        each = [Stack.flatten(way.pull({i: None}, leaves, retain=True)) for i in range(n)]
        g = torch.stack(each, dim=1)  # [K, n, p]
        part = torch.bmm(g, g.mT)
        gram = part if gram is None else gram + part
    if gram is None:
        raise ValueError("a Gram matrix needs shared parameters")
    return gram


def groups(sizes: list[int], held: int) -> list[slice]:
    """Neighbours whose sizes together are at most `held`; one that is larger stands alone."""
    starts, total = [0], 0
    for i, size in enumerate(sizes):
        if total and total + size > held:
            starts.append(i)
            total = 0
        total += size
    return [slice(start, end) for start, end in zip(starts, [*starts[1:], len(sizes)], strict=True)]


def _flat(gradients: list[Tensor], stack: Stack) -> Tensor:
    return Stack.flatten(gradients) if gradients else torch.zeros_like(stack.flat)
