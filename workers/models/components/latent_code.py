"""What an encoder makes of an input."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class Code(NamedTuple):
    """A Gaussian code N(mean, diag(scale²)) per example."""

    mean: Tensor  # [K, B, latent]
    scale: Tensor  # the same, or what broadcasts to it: one noise level per member is [K, 1, 1]
