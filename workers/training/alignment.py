"""The step of direct feedback alignment: errors go from where a term is computed straight to every hidden layer.

A term of the heads' outputs has its error e there. A term of the code alone, such as a rate, has it at the code: for
the hidden layers below, the code is its output.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from workers.models.components.feedback import DirectFeedback
from workers.models.components.stack import Stack
from workers.models.mlp import Mlp
from workers.problems import Problem
from workers.training.gradients import Step
from workers.weightings import Weighting


def step(model: Mlp, feedback: DirectFeedback, problem: Problem, weighting: Weighting, batch: Any) -> Step:
    """Losses, weights and what the layers learn from one batch; changes no parameter. Without a Gram matrix."""
    s = model.encode(batch.x)
    cut = tuple(t.detach().requires_grad_() for t in s)
    terms = problem.losses(model, cut, batch)
    losses = torch.stack([t.detach() for t in terms], dim=1)  # [K, n]
    w = weighting(losses, None)
    at_outputs = torch.zeros_like(feedback.lines)  # Σ w_i e_i [K, B, outputs of all heads]
    at_code = torch.zeros_like(cut[0])  # the same of the terms of the code alone [K, B, code]
    cotangents = [torch.zeros_like(t) for t in cut]
    own = [torch.zeros_like(p) for p in model.head.leaves]
    inputs = [*cut, feedback.lines, *model.head.leaves]
    for i, term in enumerate(terms):
        slopes = torch.autograd.grad(term, inputs, torch.ones_like(term), retain_graph=True, allow_unused=True)
        e = slopes[len(cut)]
        for total, slope in zip(cotangents, slopes, strict=False):
            _add(total, slope, w[:, i])
        _add(at_outputs, e, w[:, i])
        _add(at_code, slopes[0] if e is None else None, w[:, i])
        for total, slope in zip(own, slopes[len(cut) + 1 :], strict=True):
            _add(total, slope, torch.ones_like(w[:, i]))
    errors = [  # of the encoder's hidden layers: Σ w_i e_i B_l, [K, B, units]
        torch.baddbmm(torch.bmm(at_outputs, b), at_code, c)
        for b, c in zip(feedback.to_encoder, feedback.of_code, strict=True)
    ]
    encoder = torch.autograd.grad([*s, *feedback.hidden], model.encoder.leaves, [*cotangents, *errors])
    return Step(losses, w, Stack.flatten(encoder), Stack.flatten(own))


def _add(total: Tensor, slope: Tensor | None, weight: Tensor) -> None:
    """total [K, …] ← total + weight·slope, weight [K]; a term without this slope adds nothing."""
    if slope is not None:
        total.addcmul_(slope, weight.view(-1, *[1] * (slope.dim() - 1)))
