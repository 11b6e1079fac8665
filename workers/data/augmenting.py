"""Augmentation: training images mirrored and moved by whole pixels, anew in each epoch and for each seed."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from service.contract.study.study import Training
from workers.data.random_streams import Seeds


class Augmentation:
    """Of members that each have their own settings, on the same random numbers where their seeds are equal."""

    def __init__(self, trainings: Sequence[Training], seeds: Seeds) -> None:
        self._seeds = seeds
        self._flip = torch.tensor([float(t.flip) for t in trainings], device=seeds.device)[:, None] / 2  # [K, 1]
        self._shift = torch.tensor([int(t.shift) for t in trainings], device=seeds.device)[:, None, None]  # [K, 1, 1]

    def __call__(self, x: Tensor, shape: tuple[int, int, int], stream: str) -> Tensor:
        """x [K, B, features]: mirrored with probability one half, moved down and right by −shift to shift pixels."""
        drawn = self._seeds.draw(f"augment/{stream}", lambda g: torch.rand(x.shape[1], 3, generator=g))
        u = self._seeds.spread(drawn)  # [K, B, 3]
        moves = (u[..., 1:] * (2 * self._shift + 1)).long() - self._shift
        return moved(x, u[..., 0] < self._flip, moves, shape)


def augmentation_of(trainings: Sequence[Training], seeds: Seeds) -> Augmentation | None:
    """None where no member is augmented."""
    if not any(training.flip or training.shift for training in trainings):
        return None
    return Augmentation(trainings, seeds)


def moved(x: Tensor, mirrored: Tensor, moves: Tensor, shape: tuple[int, int, int]) -> Tensor:
    """x [K, B, features], images mirrored left to right [K, B], then moved by [K, B, 2] (down, right); 0 outside."""
    channels, height, width = shape
    places = torch.arange(height * width, device=x.device)
    row = places // width - moves[..., :1]  # [K, B, H·W]: where each pixel comes from
    column = places % width - moves[..., 1:]
    inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
    column = torch.where(mirrored[..., None], width - 1 - column, column)
    source = row.clamp(0, height - 1) * width + column.clamp(0, width - 1)
    planes = x.reshape(*x.shape[:2], channels, -1)
    return (planes.gather(-1, source[:, :, None].expand_as(planes)) * inside[:, :, None]).flatten(2)
