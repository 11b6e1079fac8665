"""What the code knows, in bits, measured the same way for every method."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from workers.data.streams import Seeds
from workers.models import Model
from workers.problems import Problem

ROWS = 256  # examples at once: memory stays near that of a training batch, and noise is drawn in these blocks


class Measured(NamedTuple):
    """Means over a split."""

    rate: Tensor  # [K], nats
    cross_entropy: Tensor  # [K], nats, of single latent samples
    accuracy: Tensor  # [K], of the softmax averaged over latent samples


@torch.no_grad()
def measure(
    model: Model, problem: Problem, x: Tensor, y: Tensor, *, seeds: Seeds, stream: str, samples: int
) -> Measured:
    """Rate, cross-entropy and accuracy of all members on x [N, features], y [N].

    The noise of sample j is its seed's, the same at every epoch, so that curves do not jitter by it.
    """
    totals = torch.zeros(3, seeds.members, device=x.device, dtype=torch.float64)
    for start in range(0, len(x), ROWS):
        part = slice(start, start + ROWS)
        xs = x[part].expand(seeds.members, -1, -1)
        ys = y[part].expand(seeds.members, -1)[..., None]  # [K, B, 1]
        s = model.encode(xs)
        mean = torch.zeros(())
        cross_entropy = torch.zeros(())
        for j in range(samples):
            noise = _noise((xs.shape[1], problem.latent), seeds, f"{stream}/{j}/{start}")
            log_q = problem.logits(model, s, noise).log_softmax(-1)  # [K, B, classes]
            cross_entropy = cross_entropy - log_q.gather(-1, ys).sum((1, 2)) / samples
            mean = mean + log_q.exp()
        hits = (mean.argmax(-1, keepdim=True) == ys).sum((1, 2))
        totals += torch.stack((problem.rate(s).sum(1), cross_entropy, hits))
    return Measured(*(totals / len(x)))


def i_xz_bits(measured: Measured) -> Tensor:
    """I(X;Z) ≤ E_x KL(q(z|x) ‖ r(z)): [K]."""
    return measured.rate / math.log(2)


def i_zy_bits(measured: Measured, y: Tensor) -> Tensor:
    """I(Z;Y) ≥ H(Y) + E_{y,z} log q(y|z), H(Y) measured on the labels: [K].

    The cross-entropy is that of single samples: the bound needs the mean of log q(y|z). The log of a softmax
    averaged over samples is larger (Jensen) and bounds nothing about Z. Negative values stay as they are.
    """
    p = torch.bincount(y).double() / len(y)
    entropy = -torch.xlogy(p, p).sum()
    return (entropy - measured.cross_entropy) / math.log(2)


def _noise(shape: tuple[int, int], seeds: Seeds, stream: str) -> Tensor:
    return seeds.spread(seeds.draw(stream, lambda g: torch.randn(shape, generator=g)))  # [K, B, latent]
