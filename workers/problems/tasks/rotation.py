"""By how many quarter turns an image was rotated (Gidaris et al. 2018)."""

from __future__ import annotations

import torch
from torch import Tensor

from workers.problems.tasks.task import Drawn, Setting, View

TURNS = 4


class Rotation:
    view: View = "turned"
    outputs = TURNS

    def __init__(self, setting: Setting) -> None:
        pass

    def losses(self, outputs: Tensor, drawn: Drawn) -> Tensor:
        return -outputs.log_softmax(-1).gather(-1, _turns(drawn)[..., None])[..., 0]

    def hits(self, outputs: Tensor, drawn: Drawn) -> Tensor:
        return (outputs.argmax(-1) == _turns(drawn)).double()

    def known(self, drawn: Drawn) -> Tensor | None:
        return None


def _turns(drawn: Drawn) -> Tensor:
    if drawn.extra is None:
        raise ValueError("rotation needs the view 'turned'")
    return drawn.extra


def turned(x: Tensor, turns: Tensor, shape: tuple[int, int, int]) -> Tensor:
    """x [K, B, features] with each image rotated by its own number of quarter turns [K, B]."""
    channels, height, width = shape
    if height != width:
        raise ValueError(f"rotation needs square images, got {height}×{width}")
    places = torch.arange(channels * height * width, device=x.device).view(shape)
    table = torch.stack([torch.rot90(places, k, (1, 2)).flatten() for k in range(TURNS)])  # [4, features]
    return x.gather(-1, table[turns])
