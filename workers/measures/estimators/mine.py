"""MINE (Belghazi et al. 2018): the Donsker–Varadhan bound, with a critic that never saw the points it is measured on.

I(X;Z) ≥ E_joint[T] − ln E_marginal[e^T] for every T(x, z), here a small MLP. Half of the points train it, a quarter
chooses the training step, the last quarter M is measured: E_joint over its pairs (x_i, z_i), E_marginal over the cyclic
shifts (x_i, z_{i+s}), s ≥ 1, which are all pairs i ≠ j up to SHIFTS + 1 points. In the mean over draws a lower bound,
but for the logarithm of a mean over finitely many pairs, which is a little too small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from workers.measures.estimators.samples.codes import Codes
from workers.models.components.layers import forward, layers
from workers.models.components.stack import Stack
from workers.optimizers.adam import Adam

WIDTHS = (64, 32)
STEPS = 400
BATCH = 128
SHUFFLES = 2  # marginal pairs per joint pair in training
LEARNING_RATE = 4e-3  # falls linearly to 0: near a fixed point the value depends little on rounding and on the step
AVERAGE = 0.05  # share of the newest batch in the moving mean of e^T
CHECK = 50  # steps from one look at the second part to the next
CHECK_SHIFTS = 32
SHIFTS = 500  # M · SHIFTS marginal pairs at most, so that the cost grows with N, not N²
CAP = 0.95  # T is measured up to this quantile of its true pairs: a few wild pairs would decide the mean of e^T
ENTRIES = 500_000  # of a block [K, S, M, width]
POINTS = 8  # below, no part has two points


class Pairs(NamedTuple):
    """Inputs and one latent sample of each, both standardised."""

    x: Tensor  # [1 or K, M, features]
    z: Tensor  # [K, M, L]


def mine(codes: Codes) -> Tensor:
    """The bound in nats [K]; 0, a lower bound too, for fewer than 8 points.

    In float64: hundreds of steps make another rounding of float32 a difference in the second digit.
    """
    count = codes.x.shape[1]
    if count < POINTS:
        return codes.mean.new_zeros(len(codes.mean))
    quarter = count // 4
    fit = count - 2 * quarter
    codes = _standardized(codes, fit)
    check, test = (
        Pairs(codes.x[:, part], codes.z[:, part]) for part in (slice(fit, fit + quarter), slice(-quarter, None))
    )
    with torch.enable_grad():
        critic = _trained(codes, fit, check)
    with torch.no_grad():
        cap = _values(critic, check, range(1)).flatten(1).quantile(CAP, dim=1)  # [K]
        return _bound(critic, test, SHIFTS, cap)


def _standardized(codes: Codes, count: int) -> Codes:
    """Mean 0 and deviation 1 per dimension of the first part; pixels that are almost constant are not blown up."""
    x, z = codes.x[:, :count], codes.z[:, :count]
    spread = x.std(1, keepdim=True)
    floor = 0.1 * spread.square().mean(-1, keepdim=True).sqrt() + 1e-12
    centre, width = z.mean(1, keepdim=True), z.std(1, keepdim=True).clamp_min(1e-12)
    return codes._replace(
        x=(codes.x - x.mean(1, keepdim=True)) / spread.maximum(floor),
        mean=(codes.mean - centre) / width,
        scale=codes.scale / width,
    )


def _trained(codes: Codes, count: int, check: Pairs) -> Sequence[Tensor]:
    """The critic's leaves after the step with the best bound on `check`, or T = 0 if none is above 0.

    Trains on the first `count` points, each time with new noise: more joint pairs than there are points.
    """
    seeds = codes.seeds
    first = layers([codes.x.shape[2] + codes.mean.shape[2], *WIDTHS, 1], seeds, "mine/critic")
    critic = Stack(first.flat.double(), [leaf.shape[1:] for leaf in first.leaves])
    optimizer = Adam([critic.flat], torch.full_like(critic.flat[:, 0], LEARNING_RATE))
    order = seeds.spread(seeds.draw("mine/order", lambda g: torch.randint(count, (STEPS, BATCH), generator=g)))
    best, highest = torch.zeros_like(critic.flat), torch.zeros_like(critic.flat[:, 0])
    log_mean = torch.full_like(highest, math.nan)  # of e^T, moving: [K]
    member = torch.arange(seeds.members, device=highest.device)[:, None]
    for step in range(STEPS):
        at = order[:, step]  # [K, B]
        noise = seeds.spread(
            seeds.draw(f"mine/noise/{step}", lambda g: torch.randn(BATCH, codes.mean.shape[2], generator=g))
        )
        z = torch.addcmul(codes.mean[member, at], codes.scale[member, at], noise.double())
        t = _values(
            critic.leaves, Pairs(codes.x[member if len(codes.x) > 1 else 0, at], z), range(SHUFFLES + 1)
        )  # [K, 1 + S, B]
        newest = _log_mean_exp(t[:, 1:].detach())
        moved = torch.logaddexp(log_mean + math.log1p(-AVERAGE), newest + math.log(AVERAGE))
        log_mean = moved if step else newest
        # Its gradient is −∇E_joint[T] + E_marginal[e^T ∇T] / (moving mean of e^T).
        loss = (t[:, 1:] - log_mean[:, None, None]).exp().mean((1, 2)) - t[:, 0].mean(1)
        before = critic.flat.clone()
        optimizer.step([Stack.flatten(torch.autograd.grad(loss.sum(), critic.leaves))])
        with torch.no_grad():
            critic.flat.lerp_(before, step / STEPS)  # the falling learning rate
            if (step + 1) % CHECK == 0:
                value = _bound(critic.leaves, check, CHECK_SHIFTS)
                best = torch.where((value > highest)[:, None], critic.flat, best)
                highest = torch.maximum(value, highest)
    critic.flat.copy_(best)
    return critic.leaves


def _values(leaves: Sequence[Tensor], pairs: Pairs, shifts: range) -> Tensor:
    """T(x_i, z_{i+s}): [K, S, M]. The first layer is linear in (x, z), so it is applied once to each x and each z."""
    weight, bias = leaves[:2]
    features = pairs.x.shape[-1]
    of_x = torch.matmul(pairs.x, weight[:, :features]) + bias  # [K, M, width]
    of_z = torch.bmm(pairs.z, weight[:, features:])
    h = torch.stack([of_x + of_z.roll(-s, 1) for s in shifts], dim=1)  # [K, S, M, width]
    return forward(leaves[2:], h.flatten(1, 2).relu()).view(h.shape[:3])


def _bound(leaves: Sequence[Tensor], pairs: Pairs, most: int, cap: Tensor | None = None) -> Tensor:
    """E_joint[T] − ln E_marginal[e^T] with T at most `cap` [K]: [K]."""
    members, count, _ = pairs.z.shape
    block = max(1, ENTRIES // (members * count * WIDTHS[0]))
    last = min(most, count - 1)
    highest = torch.full_like(pairs.z[:, 0, 0], math.inf) if cap is None else cap
    joint = _values(leaves, pairs, range(1)).minimum(highest[:, None, None]).mean((1, 2))
    logs = [
        _values(leaves, pairs, range(s, min(s + block, last + 1)))
        .minimum(highest[:, None, None])
        .flatten(1)
        .logsumexp(1)
        for s in range(1, last + 1, block)
    ]
    return joint - torch.stack(logs).logsumexp(0) + math.log(last * count)


def _log_mean_exp(t: Tensor) -> Tensor:
    """ln of the mean of e^t over all but the members: [K]."""
    return t.flatten(1).logsumexp(1) - math.log(t[0].numel())
