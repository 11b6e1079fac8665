"""Parameters of K members in one buffer, so that Gram matrices and optimiser steps are single products."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor


class Stack:
    """A buffer `flat` [K, P] and its `leaves` [K, *shape], which share its memory and take gradients.

    `pace` [P] is how many times the learning rate each parameter has with Adam; none: one for all.
    """

    def __init__(self, flat: Tensor, shapes: Sequence[tuple[int, ...]], pace: Tensor | None = None) -> None:
        self.flat, self.pace = flat, pace
        pieces = torch.split(flat, [math.prod(shape) for shape in shapes], dim=1)
        self.leaves = [
            torch.unflatten(piece, 1, shape).detach().requires_grad_()
            for piece, shape in zip(pieces, shapes, strict=True)
        ]

    @staticmethod
    def flatten(gradients: Sequence[Tensor]) -> Tensor:
        """Gradients of the leaves as one matrix: [K, P]."""
        return torch.cat([g.flatten(1) for g in gradients], dim=1)
