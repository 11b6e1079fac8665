"""What the code knows, in nats, measured the same way for every method."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from workers.data.random_streams import Seeds
from workers.measures import labels
from workers.measures.coding import Coding
from workers.models import Model

ROWS = 256  # examples at once: memory stays near that of a training batch, and noise is drawn in these blocks


class Measured(NamedTuple):
    """Means over a split, [K], and standard errors of the means over its examples, the model given.

    `rate`: I(X;Z) ≤ E_x KL(q(z|x) ‖ r(z)). `gain`: I(Z;Y) ≥ E_{y,z}[ln q(y|z) − ln p(y)]; it needs the mean over single
    latent samples: the log of a softmax averaged over samples is larger (Jensen) and bounds nothing about Z. Negative
    values stay as they are.
    """

    rate: Tensor  # nats
    gain: Tensor  # nats
    accuracy: Tensor  # of the prediction averaged over latent samples
    rate_error: Tensor
    gain_error: Tensor


@torch.no_grad()
def measure(
    model: Model, problem: Coding, x: Tensor, y: Tensor, *, seeds: Seeds, stream: str, samples: int
) -> Measured:
    """Rate, gain and accuracy of all members on x [N, features], y [N] or [N, d].

    The noise of sample j is its seed's, the same at every epoch, so that curves do not jitter by it.
    """
    label = labels.kind_of(y)
    surprise = label.surprise(y)  # [N]
    sums = torch.zeros(5, seeds.members, device=x.device, dtype=torch.float64)
    for start in range(0, len(x), ROWS):
        part = slice(start, start + ROWS)
        xs = x[part].expand(seeds.members, -1, -1)
        ys = y[part].expand(seeds.members, *y[part].shape)  # [K, B, …]
        s = model.encode(xs)
        code = problem.code(s)
        guess = torch.zeros(())
        cost = torch.zeros(())
        for j in range(samples):
            noise = _noise((xs.shape[1], problem.latent), seeds, f"{stream}/{j}/{start}")
            outputs = model.decode(torch.addcmul(code.mean, code.scale, noise))  # [K, B, outputs]
            cost = cost + label.nats(outputs, ys).double() / samples
            guess = guess + label.guess(outputs) / samples
        rate, gain = problem.rate(s).double(), surprise[part] - cost  # [K, B]
        hits = label.hits(guess, ys)
        sums += torch.stack([t.sum(1) for t in (rate, gain, hits, rate.square(), gain.square())])
    means = sums / len(x)
    errors = (means[3:] - means[:2].square()).clamp_min(0) / max(1, len(x) - 1)
    return Measured(*means[:3], *errors.sqrt())


def _noise(shape: tuple[int, int], seeds: Seeds, stream: str) -> Tensor:
    return seeds.spread(seeds.draw(stream, lambda g: torch.randn(shape, generator=g)))  # [K, B, latent]
