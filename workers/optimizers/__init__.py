"""Stacked optimisers on torch._foreach_*: torch.optim has one learning rate for all and loads for seconds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import torch
from torch import Tensor

from service.contract.study.study import Training
from workers.optimizers.adam import Adam
from workers.optimizers.adamw import AdamW
from workers.optimizers.momentum import Momentum
from workers.optimizers.sgd import Sgd
from workers.optimizers.stacking.clipped import Clipped
from workers.optimizers.stacking.regularized import Regularized
from workers.optimizers.stacking.stacked import Optimizer
from workers.optimizers.stacking.varied_adam import VariedAdam

WEIGHT_DECAY = 0.01  # of AdamW, where a study names none


def build(
    name: Literal["adam", "sgd"],
    parameters: Sequence[Tensor],
    learning_rate: Tensor,
    l1: Tensor | None = None,
    l2: Tensor | None = None,
    paces: Sequence[Tensor | None] = (),
) -> Optimizer:
    """The optimiser of a cohort: parameters [K, …], learning rates and regularisers [K], paces [P] for Adam.

    Plain descent has none: its steps already grow with the gradients of parameters that much depends on.
    """
    plain = Adam(parameters, learning_rate, paces) if name == "adam" else Sgd(parameters, learning_rate)
    return _regularized(plain, parameters, l1, l2)


def build_for(
    trainings: Sequence[Training],
    parameters: Sequence[Tensor],
    device: torch.device,
    paces: Sequence[Tensor | None] = (),
) -> Optimizer:
    """The optimiser of trials that name the same one, each with its own settings; what nobody uses costs nothing."""

    def each(value: Callable[[Training], float]) -> Tensor:
        return torch.tensor([float(value(training)) for training in trainings], device=device)

    name, rates = trainings[0].optimizer, each(lambda t: t.learning_rate)
    plain: Optimizer
    if name == "sgd":
        moves, looks = each(lambda t: t.momentum), each(lambda t: t.nesterov) > 0
        plain = Momentum(parameters, rates, moves, looks) if bool(moves.any()) else Sgd(parameters, rates)
    else:
        plain = adam = _adam(trainings, parameters, rates, paces)
        if name == "adamw":
            decay = each(lambda t: WEIGHT_DECAY if t.weight_decay is None else t.weight_decay)
            plain = AdamW(adam, parameters, rates, decay, paces)
    regular = _regularized(plain, parameters, each(lambda t: t.l1), each(lambda t: t.l2))
    longest = each(lambda t: math.inf if t.clip is None else t.clip)
    return Clipped(regular, parameters, longest) if bool(longest.isfinite().any()) else regular


def _adam(
    trainings: Sequence[Training], parameters: Sequence[Tensor], rates: Tensor, paces: Sequence[Tensor | None]
) -> Adam:
    betas = [(training.beta1, training.beta2) for training in trainings]
    if len(set(betas)) == 1:
        return Adam(parameters, rates, paces, *betas[0])
    beta1, beta2 = torch.tensor(betas, device=rates.device).unbind(1)
    return VariedAdam(parameters, rates, beta1, beta2, paces)


def _regularized(plain: Optimizer, parameters: Sequence[Tensor], l1: Tensor | None, l2: Tensor | None) -> Optimizer:
    none = torch.zeros(len(parameters[0]), device=parameters[0].device)
    l1, l2 = (none if value is None else value for value in (l1, l2))
    return Regularized(plain, parameters, l1, l2) if bool((l1 + l2).any()) else plain
