"""How much of what was learned since the beginning is overfitting (gradient blending, eq. 1)."""

from __future__ import annotations

import torch
from torch import Tensor

from service.contract.metrics import LOSS_GAP, OVERFITTING_RATIO
from workers.data.split import Split
from workers.measures.coding import Columns
from workers.models import Model
from workers.problems import Problem


class Overfitting:
    """O = validation − training loss of a term, both at the same weights on as many examples, and |ΔO/ΔG| from the
    untrained weights on, G the validation loss.

    Made before the first step of a cohort, also of one that goes on: its untrained weights follow from its seeds.
    """

    def __init__(self, problem: Problem, model: Model, split: Split) -> None:
        self._problem, self._model, self._split = problem, model, split
        self._first = self._losses()

    def measure(self) -> Columns:
        """`loss_gap_<term>` and `ogr_<term>` of each member."""
        (gap, ratio), terms = gap_and_ratio(self._first, self._losses()), self._problem.terms
        families = ((LOSS_GAP, gap), (OVERFITTING_RATIO, ratio))
        return {family.of(term): values[:, i].tolist() for family, values in families for i, term in enumerate(terms)}

    def _losses(self) -> Tensor:
        """On training examples and on the validation split: [2, K, n]."""
        train, validation = (
            self._problem.mean_losses(self._model, self._split, part) for part in ("train", "validation")
        )
        if train is None or validation is None:
            raise ValueError("overfitting is measured on a validation split, which this data or problem does not have")
        return torch.stack((train, validation)).double()


def gap_and_ratio(first: Tensor, last: Tensor) -> tuple[Tensor, Tensor]:
    """O(n) and |(O(n) − O(n₀)) / (G(n) − G(n₀))| [K, n] of the losses [2, K, n] at n₀ and n."""
    gap = last[1] - last[0]
    return gap, ((gap - (first[1] - first[0])) / (last[1] - first[1])).abs()
