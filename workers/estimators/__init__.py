"""Estimates of I(X;Z) from the Gaussian codes of N inputs. They treat X as uniform on those, so none exceeds ln N."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from service.contract.study import Evaluation
from workers.data.streams import Seeds, generator
from workers.estimators import infonce, pairwise
from workers.information import ROWS
from workers.models import Model
from workers.problems import Problem

# From means and scales [K, N, L] and one standard normal draw of that shape to nats [K].
ESTIMATORS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "pairwise-lower": lambda mean, scale, noise: pairwise.lower(mean, scale),
    "pairwise-upper": lambda mean, scale, noise: pairwise.upper(mean, scale),
    "infonce": infonce.infonce,
}


@torch.no_grad()
def estimate(model: Model, problem: Problem, x: Tensor, seeds: Seeds, evaluation: Evaluation) -> dict[str, list[float]]:
    """What `evaluation.estimators` names, in bits, and N; nothing if it names none. Not finite without noise.

    The points are the same for every cohort and epoch, and so is the noise of each seed.
    """
    if not evaluation.estimators:
        return {}
    chosen = torch.randperm(len(x), generator=generator(0, "estimator-subset"))[: evaluation.estimator_samples]
    points = x[chosen.to(x.device)]
    mean, scale = _codes(model, problem, points, seeds.members)
    shape = mean.shape[1:]
    noise = seeds.spread(seeds.draw("estimator", lambda g: torch.randn(shape, generator=g))).double()
    found = {
        f"i_xz_{name}_bits": (ESTIMATORS[name](mean, scale, noise) / math.log(2)).tolist()
        for name in evaluation.estimators
    }
    return {**found, "estimator_samples": [float(len(points))] * seeds.members}


def _codes(model: Model, problem: Problem, x: Tensor, members: int) -> tuple[Tensor, Tensor]:
    """Means and scales of the codes of all members: [K, N, L], float64."""
    parts = [problem.code(model.encode(rows.expand(members, *rows.shape))) for rows in torch.split(x, ROWS)]
    mean = torch.cat([code.mean for code in parts], dim=1)
    scale = torch.cat([code.scale.expand_as(code.mean) for code in parts], dim=1)
    return mean.double(), scale.double()
