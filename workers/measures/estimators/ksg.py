"""Nearest neighbours (Kraskov, Stögbauer & Grassberger 2004), their estimator 1.

For a few dimensions of x and of z, and refused beyond: distances of many dimensions are all alike, and the estimate
then falls far below the truth. Neither an upper nor a lower bound; at most ψ(N) − ψ(k) where no two
points coincide, so a code without noise, whose information is infinite, gets a finite number here.
"""

from __future__ import annotations

import torch
from torch import Tensor

from workers.measures.estimators.samples.codes import Codes

NEIGHBOURS = 3  # k
ENTRIES = 1_000_000  # of a block [rows, N] of distances


def ksg(codes: Codes) -> Tensor:
    """I = ψ(k) + ψ(N) − ⟨ψ(n_x + 1) + ψ(n_z + 1)⟩ in nats [K], eq. 8, with one latent sample per point.

    n_x and n_z count the points nearer than the k-th joint neighbour, in the max-norm, each dimension scaled to
    deviation 1. A constant code gives exactly 0; where k neighbours coincide with a point, counts of equal points
    stand in: ψ(n_xz + 1) + ψ(N) − ψ(n_x + 1) − ψ(n_z + 1). 0 for k points or fewer.
    """
    x, z = _scaled(codes.x), _scaled(codes.z)
    count = x.shape[1]
    if count <= NEIGHBOURS:
        return z.new_zeros(len(z))
    total = z.new_zeros(len(z))
    rows = max(1, ENTRIES // count)
    for start in range(0, count, rows):
        part = slice(start, start + rows)
        near_x = [torch.cdist(xs[part], xs, p=torch.inf) for xs in x]  # [rows, N], of one for all members or of each
        near_z = (torch.cdist(zs[part], zs, p=torch.inf) for zs in z)
        total += torch.stack([_local(near_x[k % len(x)], near).sum() for k, near in enumerate(near_z)])
    return total / count + torch.digamma(z.new_tensor(count)) + 0 * z.sum((1, 2))  # not a number if the code is not


def _local(near_x: Tensor, near_z: Tensor) -> Tensor:
    """ψ(k) − ψ(n_x + 1) − ψ(n_z + 1) of each row from its distances [rows, N], which include the point's own 0."""
    joint = torch.maximum(near_x, near_z)
    radius = joint.kthvalue(NEIGHBOURS + 1, dim=1, keepdim=True).values  # own 0 is the first
    tied = radius[:, 0] == 0
    # Counts with the point itself, which is nearer than any radius but 0: n + 1.
    n_x, n_z = ((torch.where(radius > 0, near < radius, near == 0)).sum(1) for near in (near_x, near_z))
    k = torch.where(tied, (joint == 0).sum(1), NEIGHBOURS)
    return torch.digamma(k.double()) - torch.digamma(n_x.double()) - torch.digamma(n_z.double())


def _scaled(values: Tensor) -> Tensor:
    """Deviation 1 in each dimension [..., N, D]; a constant one stays."""
    deviation = values.std(-2, keepdim=True)
    return values / torch.where(deviation > 0, deviation, 1)
