"""What the Gram matrices of an epoch say: how the terms' gradients lie to each other, and how long they are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

import torch
from torch import Tensor

from service.contract.metrics import COSINE, COSINE_MEAN, GRADIENT_NORM
from service.contract.metrics.gradients import watched_pairs


class Angles:
    """Sums over the batches of an epoch, on their device: cosines [K, n, n] and lengths [K, n].

    A batch in which one of two gradients is 0 has no angle and does not count for their cosine.
    """

    def __init__(self, terms: Sequence[str]) -> None:
        self._terms = terms
        self.start()

    def start(self) -> None:
        """Forget the epoch before."""
        self._batches = 0
        self._cosines = self._lengths = self._known = torch.zeros(())

    def add(self, gram: Tensor) -> None:
        """One batch: g gᵀ [K, n, n]."""
        length = gram.diagonal(dim1=1, dim2=2).sqrt()  # [K, n]
        both = length[:, :, None] * length[:, None, :]
        known = both > 0
        self._cosines = self._cosines + torch.where(known, gram / both, 0.0).clamp(-1, 1)
        self._known = self._known + known
        self._lengths = self._lengths + length
        self._batches += 1

    def report(self, members: Collection[int]) -> dict[str, dict[int, float]]:
        """Metrics of these members: their names, and the value of each; not a number where there is no angle."""
        if not self._batches:
            return {}
        n = len(self._terms)
        cosines, lengths = (self._cosines / self._known).cpu(), (self._lengths / self._batches).cpu()
        columns = {GRADIENT_NORM.of(term): lengths[:, i] for i, term in enumerate(self._terms)}
        place = {term: i for i, term in enumerate(self._terms)}
        columns |= {COSINE.of(a, b): cosines[:, place[a], place[b]] for a, b in watched_pairs(self._terms)}
        if n > 2:
            first, second = zip(*combinations(range(n), 2), strict=True)
            columns[COSINE_MEAN] = cosines[:, list(first), list(second)].nanmean(1)
        return {name: {k: column[k].item() for k in members} for name, column in columns.items()}
