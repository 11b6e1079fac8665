"""Convex functions u of the rate (Rodríguez Gálvez, Thobaben & Skoglund 2020): a point of its own for each β.

Minimising pred + β u(r) is linear IB with the weight β u'(r), so the map from β to the point is one-to-one also
where the information curve is straight. r is the mean rate of a batch in nats, never that of one sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from service.contract.methods.problems import Bottleneck as Spec

# Above these exponents the tangent goes on. 20 keeps Adam's squared gradients finite. An untrained code lies far above
# the shift, so the shifted form starts at its steepest: on digits (η 0.5, 16 bits, 40 epochs, one seed) a limit of 8
# left no β that predicts, 5 few, 3 and 1 most. Presumably Adam's second moment remembers the first steps.
LARGEST, LARGEST_SHIFTED = 20.0, 3.0


class Transform(NamedTuple):
    """u, increasing on r ≥ 0, and its inverse."""

    u: Callable[[Tensor], Tensor]
    inverse: Callable[[Tensor], Tensor]


def build(spec: Spec) -> Transform | None:
    """The transform that a bottleneck names; none for the identity."""
    eta, shift = spec.eta, spec.shift_bits * math.log(2)
    if spec.transform == "square":
        return power(1.0)
    if spec.transform == "power":
        return power(spec.exponent)
    if spec.transform == "exp":
        return Transform(lambda r: _exp(eta * r, LARGEST), lambda u: _log(u, LARGEST) / eta)
    if spec.transform == "shifted-exp":
        return Transform(
            lambda r: _exp(eta * (r - shift), LARGEST_SHIFTED) / eta,
            lambda u: (shift + _log(u * eta, LARGEST_SHIFTED) / eta).clamp_min(0),
        )
    return None


def power(a: float) -> Transform:
    """u(r) = r^(1+a); rounding may leave a collapsed rate just below 0, where powers are not defined."""
    return Transform(lambda r: r.clamp_min(0).pow(1 + a), lambda u: u.pow(1 / (1 + a)))


def _exp(x: Tensor, limit: float) -> Tensor:
    """eˣ up to the limit, then its tangent there: convex, and with a gradient to come back by."""
    return x.clamp_max(limit).exp() * (1 + (x - limit).clamp_min(0))


def _log(y: Tensor, limit: float) -> Tensor:
    """The inverse of _exp."""
    top = math.exp(limit)
    return torch.where(y > top, limit + y / top - 1, y.log())
