"""Estimates of I(X;Z) from N inputs and their Gaussian codes.

The pairwise bounds and InfoNCE know the code's densities and treat X as uniform on the N points, so none exceeds ln N;
MINE and KSG see no densities, only inputs and samples of their codes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from service.contract.metrics import ESTIMATE, ESTIMATOR_SAMPLES
from service.contract.metrics.estimators import EstimatorName
from service.contract.study.study import Evaluation
from workers.data.random_streams import generator
from workers.data.split import Part
from workers.measures import information
from workers.measures.coding import Coder, Coding, Columns
from workers.measures.estimators import infonce, ksg, mine, pairwise
from workers.measures.estimators.samples.codes import Codes

# To nats [K].
ESTIMATORS: dict[EstimatorName, Callable[[Codes], Tensor]] = {
    "pairwise-lower": lambda codes: pairwise.lower(codes.mean, codes.scale),
    "pairwise-upper": lambda codes: pairwise.upper(codes.mean, codes.scale),
    "infonce": lambda codes: infonce.infonce(codes.mean, codes.scale, codes.noise),
    "mine": mine.mine,
    "ksg": ksg.ksg,
}


@torch.no_grad()
def estimate(model: Coder, problem: Coding, part: Part, evaluation: Evaluation) -> Columns:
    """What `evaluation.estimators` names, in bits, and N; nothing if it names none.

    Not finite without noise, but for MINE and KSG. MINE trains a critic at each call.
    The points are the same for every cohort and epoch, and so is the noise of each seed.
    """
    if not evaluation.estimators:
        return {}
    chosen = torch.randperm(len(part), generator=generator(0, "estimator-subset"))[: evaluation.estimator_samples]
    points = part.some(chosen.to(part.seeds.device))
    codes = _codes(model, problem, points)
    estimates = {ESTIMATE.of(name): (ESTIMATORS[name](codes) / math.log(2)).tolist() for name in evaluation.estimators}
    return {**estimates, ESTIMATOR_SAMPLES: [float(len(points))] * part.seeds.members}


def _codes(model: Coder, problem: Coding, part: Part) -> Codes:
    """The codes of all members, and noise of each seed."""
    seeds = part.seeds
    mean, scale = information.codes(model, problem, part)
    noise = seeds.spread(seeds.draw("estimator", lambda g: torch.randn(mean.shape[1:], generator=g)))
    x = part.inputs[:].double()  # [D, N, features]
    return Codes(x if len(x) == 1 else seeds.spread(x), mean.double(), scale.double(), noise.double(), seeds)
