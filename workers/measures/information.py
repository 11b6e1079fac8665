"""What the code knows, in nats, measured the same way for every method."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from workers.data.random_streams import Seeds
from workers.data.split import Part
from workers.measures import labels
from workers.measures.coding import Coder, Coding
from workers.measures.marginal import Marginal
from workers.models.components.latent_code import Code

ROWS = 256  # examples at once: memory stays near that of a training batch, and noise is drawn in these blocks


class Measured(NamedTuple):
    """Means over a split, [K], and standard errors of the means over its examples, the model given.

    `rate`: I(X;Z) ≤ E_x KL(q(z|x) ‖ r(z)), r the marginal that was given, and `prior` with r = N(0, I).
    `gain`: I(Z;Y) ≥ E_{y,z}[ln q(y|z) − ln p(y)]; it needs the mean over single latent samples: the log of a softmax
    averaged over samples is larger (Jensen) and bounds nothing about Z. Negative values stay as they are.
    """

    rate: Tensor  # nats
    prior: Tensor  # nats
    gain: Tensor  # nats
    accuracy: Tensor  # of the prediction averaged over latent samples
    rate_error: Tensor
    prior_error: Tensor
    gain_error: Tensor


@torch.no_grad()
def measure(
    model: Coder, problem: Coding, part: Part, *, stream: str, samples: int, marginal: Marginal | None = None
) -> Measured:
    """Rate, gain and accuracy of all members on a split; the prior is the marginal of none.

    The noise of sample j is its seed's, the same at every epoch, so that curves do not jitter by it.
    """
    seeds, label = part.seeds, labels.kind_of(part.labels[0])
    surprise = torch.stack([label.surprise(y) for y in part.labels])  # [D, N]
    sums = torch.zeros(7, seeds.members, device=seeds.device, dtype=torch.float64)
    for start in range(0, len(part), ROWS):
        rows = slice(start, start + ROWS)
        xs, ys = part.block(rows)  # [K, B, …]
        s = model.encode(xs)
        code = problem.code(s)
        guess = torch.zeros(())  # a sum: its largest part is that of the mean
        cost = torch.zeros(ys.shape[:2], device=seeds.device, dtype=torch.float64)
        for outputs in decoded(model, code, seeds, stream=stream, start=start, samples=samples):
            cost.add_(label.nats(outputs, ys), alpha=1 / samples)
            guess = guess + label.guess(outputs)
        prior, gain = problem.rate(s).double(), part.spread(surprise[:, rows]) - cost  # [K, B]
        rate = prior if marginal is None else marginal.nats(code)
        hits = label.hits(guess, ys)
        squares = (t.square() for t in (rate, prior, gain))
        sums += torch.stack([t.sum(1) for t in (rate, prior, gain, hits, *squares)])
    means = sums / len(part)
    errors = (means[4:] - means[:3].square()).clamp_min(0) / max(1, len(part) - 1)
    return Measured(*means[:4], *errors.sqrt())


def decoded(
    model: Coder, code: Code, seeds: Seeds, *, stream: str, start: int, samples: int
) -> Iterator[Tensor]:  # [K, B, outputs] each
    """What the decoder makes of each sample of the codes of a block, whose first row is `start` of its split."""
    _, rows, latent = code.mean.shape
    for j in range(samples):
        noise = seeds.spread(seeds.noise(f"{stream}/{j}/{start}", rows, latent))
        yield model.decode(torch.addcmul(code.mean, code.scale, noise.to(code.mean.dtype)))


@torch.no_grad()
def accuracy(model: Coder, problem: Coding, part: Part, *, stream: str, samples: int) -> Tensor:
    """That of `measure`, alone: [K]."""
    label = labels.kind_of(part.labels[0])
    hits = torch.zeros(part.seeds.members, device=part.seeds.device, dtype=torch.float64)
    for start in range(0, len(part), ROWS):
        rows = slice(start, start + ROWS)
        xs, ys = part.block(rows)
        code = problem.code(model.encode(xs))
        guess = torch.zeros(())
        for outputs in decoded(model, code, part.seeds, stream=stream, start=start, samples=samples):
            guess = guess + label.guess(outputs)
        hits += label.hits(guess, ys).sum(1)
    return hits / len(part)


@torch.no_grad()
def codes(model: Coder, problem: Coding, part: Part) -> Code:
    """The codes of a split of all members, a scale for each: [K, N, latent]."""
    blocks = [part.block(slice(start, start + ROWS))[0] for start in range(0, len(part), ROWS)]
    parts = [problem.code(model.encode(x)) for x in blocks]
    mean = torch.cat([code.mean for code in parts], dim=1)
    return Code(mean, torch.cat([code.scale.expand_as(code.mean) for code in parts], dim=1))
