"""A shifted view of an image is to have the projection that an averaged teacher gives the image, or another view."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from workers.data.augmenting import moved
from workers.problems.tasks.task import Drawn, Setting, View

WIDTH = 16  # of the projection
NOISE = 0.05  # standard deviation added to the pixels of a view


class Exemplar:
    """1 − cosine; `Drawn.extra` holds the teacher's projections [K, B, WIDTH], which get no gradient."""

    view: View = "shifted"
    outputs = WIDTH

    def __init__(self, setting: Setting) -> None:
        pass

    def losses(self, outputs: Tensor, drawn: Drawn) -> Tensor:
        if drawn.extra is None:
            raise ValueError("exemplar needs the teacher's projections of the view 'shifted'")
        return 1 - functional.cosine_similarity(outputs, drawn.extra.detach(), dim=-1)

    def hits(self, outputs: Tensor, drawn: Drawn) -> Tensor | None:
        return None

    def known(self, drawn: Drawn) -> Tensor | None:
        return None


def shifted(x: Tensor, moves: Tensor, noise: Tensor, shape: tuple[int, int, int]) -> Tensor:
    """x [K, B, features] moved by its own pixels [K, B, 2] (down, right), black outside, with noise."""
    still = torch.zeros_like(moves[..., 0], dtype=torch.bool)
    return moved(x, still, moves, shape) + NOISE * noise
