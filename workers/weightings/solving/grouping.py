"""k-means of numbers on a line, exactly and many at once."""

from __future__ import annotations

import torch
from torch import Tensor


def group_means(values: Tensor, groups: Tensor) -> Tensor:
    """Each value's group mean, for the groups with the least squared distances to their means: [m, n], [m] -> [m, n].

    The best groups of numbers are runs of the sorted ones (Wang & Song 2011), so that E_k(j), the least error of the
    first j in k groups, is min_i E_{k−1}(i) + error of the run from i to j.
    """
    ordered, order = values.sort(dim=1)
    m, n = ordered.shape
    sums = torch.nn.functional.pad(ordered.cumsum(1), (1, 0))  # [m, n + 1]
    squares = torch.nn.functional.pad(ordered.square().cumsum(1), (1, 0))
    size = torch.arange(n + 1, device=values.device)
    count = size[None, :] - size[:, None]  # of the run from i to j, [n + 1, n + 1]
    mean = (sums[:, None, :] - sums[:, :, None]) / count.clamp_min(1)  # [m, n + 1, n + 1]
    error = squares[:, None, :] - squares[:, :, None] - count * mean.square()
    error = torch.where(count > 0, error.clamp_min(0), torch.inf)
    most = int(groups.max())
    least, starts = error[:, 0], [torch.zeros_like(order[:, :1]).expand(m, n + 1)]  # one group: it starts at 0
    for _ in range(1, most):
        best = (least[:, :, None] + error).min(dim=1)
        least = best.values
        starts.append(best.indices)
    means = torch.empty_like(ordered)
    end = torch.full((m, 1), n, device=values.device)
    place = torch.arange(n, device=values.device)
    for k in range(most, 0, -1):  # back from the last group of each member
        start = starts[k - 1].gather(1, end)
        run = (place >= start) & (place < end) & (groups[:, None] >= k)
        level = mean[torch.arange(m, device=values.device), start[:, 0], end[:, 0]][:, None]
        means = torch.where(run, level, means)
        end = torch.where(groups[:, None] >= k, start, end)
    return torch.empty_like(means).scatter_(1, order, means)
