"""Annealing: in the first epochs all terms but the first count for less (Bowman et al. 2016)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from service.contract.study.study import Training


def shares(trainings: Sequence[Training], epoch: int, device: torch.device) -> Tensor | None:
    """By which these weights are multiplied in an epoch, counted from 1: e/(a + 1) in the first a epochs, then 1; [K].

    None where nobody anneals any more.
    """
    if all(epoch > training.anneal for training in trainings):
        return None
    return torch.tensor([min(1.0, epoch / (training.anneal + 1)) for training in trainings], device=device)
