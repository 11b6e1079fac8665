"""What attacks raise: losses per image from logits [K, B, classes] and labels [K, B]."""

from __future__ import annotations

import torch
from torch import Tensor


def cross_entropy(z: Tensor, y: Tensor) -> Tensor:
    """−log softmax(z)_y: [K, B]."""
    return -z.log_softmax(-1).gather(-1, y[..., None])[..., 0]


def margin(z: Tensor, y: Tensor) -> Tensor:
    """max_{i≠y} z_i − z_y: [K, B]."""
    true = y[..., None]
    other = z.scatter(-1, true, -torch.inf).amax(-1)
    return other - z.gather(-1, true)[..., 0]


def dlr(z: Tensor, y: Tensor) -> Tensor:
    """Difference of logits ratio (Croce & Hein 2020): the margin over z_(1) − z_(3), free of scale: [K, B]."""
    if z.shape[-1] < 3:
        raise ValueError(f"loss 'dlr' compares the three largest logits, the data has {z.shape[-1]} classes")
    top = z.topk(3, dim=-1).values
    return margin(z, y) / (top[..., 0] - top[..., 2]).clamp_min(1e-12)
