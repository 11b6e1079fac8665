"""What every estimator of I(X;Z) reads: inputs and their Gaussian codes."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from workers.data.random_streams import Seeds


class Codes(NamedTuple):
    """N inputs and the code N(mean, diag(scale²)) of each for K members, float64, with one standard normal draw."""

    x: Tensor  # [1, N, features] where it is the same for all members, else [K, N, features]
    mean: Tensor  # [K, N, L]
    scale: Tensor  # [K, N, L]
    noise: Tensor  # [K, N, L]
    seeds: Seeds  # of the members, for estimators that draw more

    @property
    def z(self) -> Tensor:
        """One latent sample per input: [K, N, L]."""
        return torch.addcmul(self.mean, self.scale, self.noise)
