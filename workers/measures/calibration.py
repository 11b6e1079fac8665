"""What an estimator of I(X;Z) misses on a task of a trial's shape whose information is known.

x ~ N(0, I) in as many dimensions as the trial's input has; μ = a x_j in r = min(features, latent) dimensions of the
code, 0 in the others; σ = 1. So I(X;Z) = r/2 ln(1 + a²) nats, spread evenly over r dimensions. Its marginal is a
Gaussian and its noise does not depend on x, which flatters an estimator: the error on a trained code may be larger.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple

import torch
from torch import Tensor

from service.contract.metrics import BIAS, ESTIMATE, I_XZ, KNOWN_BITS, MISS
from service.contract.metrics.estimators import KSG_DIMENSIONS, EstimatorName
from workers.data.random_streams import Seeds, generator
from workers.measures.coding import Columns
from workers.measures.estimators import ESTIMATORS
from workers.measures.estimators.samples.codes import Codes
from workers.measures.marginal import fit
from workers.models.components.latent_code import Code

MARGINAL: Final = "marginal-kl"
SEES_INPUTS = ("mine", "ksg")
LEAST_BITS, MOST_BITS = 0.25, 256.0  # ends of the ladder, whose steps double
BEYOND = 1.5  # times log2 N, where what knows only N points says the same of any task
DRAWS, FEW_DRAWS = 4, 2  # few where one takes seconds
DEAR = ("mine", "pairwise-lower")
DEAR_FIT = 1e8  # examples · latent² of the marginal
ALIKE = 0.05  # of a doubling: estimates nearer to each other are not told apart
SHAPES = 64  # kept


class Shape(NamedTuple):
    """All that a calibration depends on."""

    estimator: EstimatorName | Literal["marginal-kl"]
    examples: int  # N
    features: int  # of the input; no more than the code has for an estimator that does not look at inputs
    latent: int
    fitted: int = 0  # codes that the marginal is fitted to


class Rung(NamedTuple):
    """A task of known information and what the estimator made of its draws, in bits."""

    known: float
    said: float  # mean over draws
    miss: float  # of a single draw

    @property
    def bias(self) -> float:
        return self.said - self.known

    @property
    def share(self) -> float:
        """Its error as a share of the truth."""
        return self.miss / self.known


def shapes_of(
    estimators: Sequence[EstimatorName], fitted: int, examples: int, points: int, features: int, latent: int
) -> list[Shape]:
    """Those of a trial's estimates: the marginal's on all examples of a split, the others on so many points of it."""
    active = min(features, latent)
    shapes = [Shape(MARGINAL, examples, active, latent, fitted)]
    return shapes + [Shape(name, points, features if name in SEES_INPUTS else active, latent) for name in estimators]


def calibrated(columns: Columns, shapes: Iterable[Shape]) -> Columns:
    """For each estimate [K] among the columns: the task at which its estimator says about as much, and its errors."""
    filled: Columns = {}
    for shape in shapes:
        metric = I_XZ if shape.estimator == MARGINAL else ESTIMATE.of(shape.estimator)
        rungs = [nearest(ladder(shape), bits) if math.isfinite(bits) else None for bits in columns[metric]]
        filled[KNOWN_BITS.of(metric)] = [rung.known if rung else math.nan for rung in rungs]
        filled[BIAS.of(metric)] = [rung.bias if rung else math.nan for rung in rungs]
        filled[MISS.of(metric)] = [rung.miss if rung else math.nan for rung in rungs]
    return filled


def nearest(rungs: Sequence[Rung], bits: float) -> Rung | None:
    """The task of which the estimator says what it said of a trial; none where there are no tasks.

    By what it said, not by what is true: an estimate near log2 N may stand for any amount above. Of tasks that it
    cannot tell apart, the one on which it misses most.
    """
    if not rungs:
        return None

    def away(rung: Rung) -> float:
        said, own = (math.log2(max(value, LEAST_BITS / 2)) for value in (rung.said, bits))
        return abs(said - own)

    least = min(map(away, rungs))
    return max((rung for rung in rungs if away(rung) <= least + ALIKE), key=lambda rung: rung.share)


@lru_cache(maxsize=SHAPES)
def ladder(shape: Shape) -> tuple[Rung, ...]:
    """Tasks of 0.25, 0.5, 1 … bits, least first; the same for every cohort and process. None where ksg is refused."""
    if shape.estimator == "ksg" and max(shape.features, shape.latent) > KSG_DIMENSIONS:
        return ()
    levels = torch.tensor(levels_of(shape), dtype=torch.float64)
    said = torch.stack([_bits(shape, levels, draw) for draw in range(draws_of(shape))])  # [draws, levels]
    miss = (said - levels).square().mean(0).sqrt()
    return tuple(Rung(*each) for each in zip(levels.tolist(), said.mean(0).tolist(), miss.tolist(), strict=True))


def levels_of(shape: Shape) -> list[float]:
    """In bits. What cannot say more than log2 N gets one level that is surely beyond."""
    most = MOST_BITS if shape.estimator == MARGINAL else min(MOST_BITS, BEYOND * math.log2(shape.examples))
    return [LEAST_BITS * 2**step for step in range(1 + max(0, math.ceil(math.log2(most / LEAST_BITS))))]


def draws_of(shape: Shape) -> int:
    dear = shape.estimator in DEAR or (shape.fitted + shape.examples) * shape.latent**2 > DEAR_FIT
    return FEW_DRAWS if dear else DRAWS


@torch.no_grad()
def _bits(shape: Shape, levels: Tensor, draw: int) -> Tensor:
    """What the estimator says of one draw of the tasks: [levels]."""
    active = min(shape.features, shape.latent)
    a = (levels * (2 * math.log(2) / active)).expm1().sqrt()[:, None, None]
    g = generator(draw, f"calibration/{shape}")
    x = torch.randn(shape.fitted + shape.examples, shape.features, generator=g, dtype=torch.float64)
    signal = torch.zeros(len(x), shape.latent, dtype=torch.float64)
    signal[:, :active] = x[:, :active]
    if shape.estimator == MARGINAL:
        return torch.cat([_marginal_bits(shape, each * signal[None]) for each in a])
    mean = a * signal  # [levels, N, latent]
    noise = torch.randn(signal.shape, generator=g, dtype=torch.float64).expand_as(mean)
    seeds = Seeds([draw] * len(levels), torch.device("cpu"))
    return ESTIMATORS[shape.estimator](Codes(x[None], mean, torch.ones_like(mean), noise, seeds)) / math.log(2)


def _marginal_bits(shape: Shape, mean: Tensor) -> Tensor:
    """The KL of the last codes to the marginal of the first: [1]."""
    scale = torch.ones_like(mean)
    first, last = slice(shape.fitted), slice(shape.fitted, None)
    r = fit(Code(mean[:, first], scale[:, first]), mean[:, first])  # labels that are no classes: one Gaussian
    return r.nats(Code(mean[:, last], scale[:, last])).mean(1) / math.log(2)
