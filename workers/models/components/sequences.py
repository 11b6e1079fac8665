"""What a sequence model reads: the words of a text, or an image row by row."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from workers.models import Sizes
from workers.models.components.from_shapes import Parameter


class Sequences:
    """T steps of `width` numbers: each word's own, or a linear map of each row of the image (all channels)."""

    def __init__(self, sizes: Sizes, width: int) -> None:
        channels, height, columns = sizes.shape
        self._image, self._words = sizes.shape, sizes.vocabulary
        self.steps = sizes.features if self._words else height
        rows = channels * columns
        self.name = "encoder.words" if self._words else "encoder.rows"  # of the parameter, [words or inputs, width]
        self.parameter = Parameter((self._words, width), 1.0) if self._words else Parameter((rows, width), rows**-0.5)

    def __call__(self, x: Tensor, table: Tensor) -> tuple[Tensor, Tensor]:
        """Steps [K, B, T, width] of inputs [K, B, features], and which of them are there [K, B, T].

        Word 0 is padding; the first step counts in any case, so that an empty text has one.
        """
        members, batch, _ = x.shape
        if not self._words:
            rows = x.reshape(members, batch, *self._image).transpose(2, 3).reshape(members, batch * self.steps, -1)
            steps = torch.bmm(rows, table).view(members, batch, self.steps, -1)
            return steps, torch.ones(steps.shape[:3], dtype=torch.bool, device=x.device)
        words = x.long()  # [K, B, T]
        first = torch.arange(members, device=x.device)[:, None, None] * self._words
        there = words > 0
        there[:, :, 0] = True
        return functional.embedding(words + first, table.flatten(0, 1)), there


def mean(steps: Tensor, there: Tensor) -> Tensor:
    """Over the steps that are there: [K, B, width]."""
    weights = there.to(steps.dtype) / there.sum(2, keepdim=True)
    return (steps * weights[..., None]).sum(2)
