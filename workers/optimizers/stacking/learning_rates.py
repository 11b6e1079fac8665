"""Learning rates over the epochs: the factor of each member's learning rate in an epoch."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from service.contract.study.study import Training

STEP_DECAY, EXPONENTIAL_DECAY, STEP_EPOCHS = 0.1, 0.95, 10  # where a study names none


def factors(trainings: Sequence[Training], epoch: int, device: torch.device) -> Tensor | None:
    """Of all members in an epoch, counted from 1: [K]; none where every learning rate stays as it is."""
    if all(training.schedule == "constant" and not training.warm_up for training in trainings):
        return None
    return torch.tensor([factor(training, epoch) for training in trainings], device=device)


def factor(training: Training, epoch: int) -> float:
    """e/(w + 1) in epoch e of a warm-up of w; after it the schedule, whose first epoch has factor 1."""
    warm_up = training.warm_up
    if epoch <= warm_up:
        return epoch / (warm_up + 1)
    done = epoch - warm_up - 1  # epochs of the schedule so far
    if training.schedule == "step":
        return float((training.decay or STEP_DECAY) ** (done // (training.decay_epochs or STEP_EPOCHS)))
    if training.schedule == "exponential":
        return float((training.decay or EXPONENTIAL_DECAY) ** done)
    if training.schedule == "cosine":
        fall = (1 + math.cos(math.pi * done / (training.epochs - warm_up))) / 2
        return training.floor + (1 - training.floor) * fall
    return 1.0
