"""Jitter (Schwinn et al. 2021)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from workers.measures.attacks.steps.ascent import Attack, Look

SCALE = 10.0
STD = 0.1
TINY = 1e-12


class Jitter(Attack):
    """mean_c (p̂ − onehot(y))² with p̂ = softmax(10 z/‖z‖∞) + 0.1·N(0, 1), over ‖δ‖∞ where already wrong.

    Rescaled logits do not saturate, and the noise varies the direction from step to step.
    """

    def loss(self, look: Look) -> Tensor:
        z, y = look.logits, look.y
        size = z.abs().amax(-1, keepdim=True).clamp_min(TINY)
        noise = look.noise.normal(f"jitter/{look.stream}", *z.shape[1:])
        p = (SCALE * z / size).softmax(-1) + STD * noise
        error = (p - functional.one_hot(y, z.shape[-1])).square().mean(-1)  # [K, B]
        reach = look.delta.abs().amax(-1)
        wrong = (z.argmax(-1) != y) & (reach > 0)
        return error / torch.where(wrong, reach, 1.0)
