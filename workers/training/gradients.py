"""The step: loss terms, their gradients, weights, and one update per member.

The graph is cut at the encoder's outputs s. Each term is differentiated down to s (cheap: the head alone),
giving a cotangent c_i = ∂ℓ_i/∂s. Without a Gram matrix one encoder pass with Σ w_i c_i gives the update; with it
one pass per term gives every g_i, and the update Σ w_i g_i is a sum of what is in hand. A pass is linear in c_i, so the
rows of half the examples give that half's share of g_i, and the other half's is the rest.

Weights may differ by example, where a network is trained for many of them at once: then they multiply the rows of c_i.

Gradients that are watched without being needed cost the passes of a Gram matrix and change no update: it is then the
same sum, taken after the passes instead of before.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from workers.models import Model
from workers.models.components.stack import Stack
from workers.problems import Problem
from workers.weightings import Weighting


class Step(NamedTuple):
    """Losses and weights of a batch, and the gradients to descend along."""

    losses: Tensor  # [K, n]
    weights: Tensor  # [K, n]
    encoder: Tensor  # [K, P]: Σ w_i g_i
    head: Tensor  # [K, Q]: Σ ∇ℓ_i, never weighted, so a weight of 0 on pred does not freeze the decoder
    gram: Tensor | None = None  # [K, n, n]: g gᵀ, whatever a weighting makes of the gradients; where each has a pass


def step(model: Model, problem: Problem, weighting: Weighting, batch: Any, watched: bool = False) -> Step:
    """Losses, weights and gradients of one batch; changes no parameter. Where `watched`, with the Gram matrix."""
    s = model.encode(batch.x)
    cut = tuple(t.detach().requires_grad_() for t in s)
    terms = problem.losses(model, cut, batch)
    cotangents, head = _differentiate(terms, cut, model.head)
    losses = torch.stack([t.detach() for t in terms], dim=1)  # [K, n]
    if weighting.needs_gram:
        halved = [[_every_second(c) for c in each] for each in cotangents] if weighting.needs_halves else []
        g, *half = _term_gradients(s, model.encoder, cotangents + halved).split(len(terms), dim=1)  # [K, n, P] each
        gram = weighting.gram(g, *half)
        w = weighting(losses, gram)
        plain = torch.bmm(g, g.mT) if weighting.own_gram else gram
        return Step(losses, w, torch.bmm(w[:, None], weighting.direction(g))[:, 0], head, plain)
    w, by_example = weighting(losses, None), weighting.by_example()
    if by_example is not None:
        combined = [_combine(by_example, c) for c in zip(*cotangents, strict=True)]
        encoder = torch.autograd.grad(s, model.encoder.leaves, combined, retain_graph=watched)
        g = _term_gradients(s, model.encoder, cotangents) if watched else None
        return Step(losses, w, Stack.flatten(encoder), head, None if g is None else torch.bmm(g, g.mT))
    if watched:
        g = _term_gradients(s, model.encoder, cotangents)
        return Step(losses, w, torch.bmm(w[:, None], g)[:, 0], head, torch.bmm(g, g.mT))
    combined = [_combine(w, c) for c in zip(*cotangents, strict=True)]
    encoder = torch.autograd.grad(s, model.encoder.leaves, combined)
    return Step(losses, w, Stack.flatten(encoder), head)


def _differentiate(terms: list[Tensor], cut: tuple[Tensor, ...], head: Stack) -> tuple[list[list[Tensor]], Tensor]:
    """Cotangents [term][output] and the head's own gradient; a term may miss an output or the whole head."""
    cotangents: list[list[Tensor]] = []
    own: dict[int, Tensor] = {}
    inputs = [*cut, *head.leaves]
    for i, term in enumerate(terms):
        slopes = torch.autograd.grad(
            term, inputs, torch.ones_like(term), retain_graph=i + 1 < len(terms), allow_unused=True
        )
        c = zip(slopes[: len(cut)], cut, strict=True)
        cotangents.append([torch.zeros_like(at) if g is None else g for g, at in c])
        for j, g in enumerate(slopes[len(cut) :]):
            if g is not None:
                own[j] = own[j] + g if j in own else g
    filled = [own[j] if j in own else torch.zeros_like(p) for j, p in enumerate(head.leaves)]
    return cotangents, Stack.flatten(filled)


def _term_gradients(s: tuple[Tensor, ...], encoder: Stack, cotangents: list[list[Tensor]]) -> Tensor:
    """One backward pass per term: gradients over the encoder, [K, n, P]."""
    n = len(cotangents)
    passes = (torch.autograd.grad(s, encoder.leaves, c, retain_graph=i + 1 < n) for i, c in enumerate(cotangents))
    flat = Stack.flatten([g for gradients in passes for g in gradients])  # [K, n·P]
    return flat.view(flat.shape[0], n, -1)


def _every_second(cotangent: Tensor) -> Tensor:
    """Zero but for every second example: half of each view, where views stand one below the other.

    What has no examples [K, outputs], or a single one, has no noise that halves could be free of: it is halved.
    """
    if cotangent.dim() == 2 or cotangent.shape[1] == 1:
        return cotangent / 2
    half = torch.zeros_like(cotangent)
    half[:, ::2] = cotangent[:, ::2]
    return half


def _combine(w: Tensor, cotangents: tuple[Tensor, ...]) -> Tensor:
    """Σ_i w_i c_i for one encoder output [K, B, outputs], with weights [K, n], or [K, B, n] of each example."""
    shape = (*w.shape[:-1], *[1] * (cotangents[0].dim() - w.dim() + 1))
    total = cotangents[0] * w[..., 0].view(shape)
    for i, c in enumerate(cotangents[1:], start=1):
        total.addcmul_(c, w[..., i].view(shape))
    return total
