"""Optimisers of trials with settings of their own, against torch.optim, its clipping and its schedules."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.optim import lr_scheduler

from service.contract.study.study import Training
from workers import optimizers
from workers.optimizers.adam import Adam
from workers.optimizers.sgd import Sgd
from workers.optimizers.stacking import learning_rates

CPU = torch.device("cpu")

# Members of one cohort, and what torch is given for each.
COHORTS: dict[str, tuple[list[dict[str, Any]], Any, list[dict[str, Any]]]] = {
    "momentum": (
        [{"momentum": 0.9}, {"momentum": 0.0}, {"momentum": 0.5, "nesterov": True}],
        torch.optim.SGD,
        [{"momentum": 0.9}, {}, {"momentum": 0.5, "nesterov": True}],
    ),
    "betas": (
        [{"beta1": 0.5, "beta2": 0.9}, {"beta1": 0.0}, {}],
        torch.optim.Adam,
        [{"betas": (0.5, 0.9)}, {"betas": (0.0, 0.999)}, {}],
    ),
    "adamw": (
        [{"weight_decay": 0.3}, {}, {"weight_decay": 0.0, "beta1": 0.8}],
        torch.optim.AdamW,
        [{"weight_decay": 0.3}, {"weight_decay": 0.01}, {"weight_decay": 0.0, "betas": (0.8, 0.999)}],
    ),
}
NAMES = {"momentum": "sgd", "betas": "adam", "adamw": "adamw"}
RATES = [1e-3, 1e-2, 0.3]


def problem(steps: int = 9) -> tuple[list[Tensor], list[list[Tensor]]]:
    """Parameters of three members and their gradients, step by step."""
    g = torch.Generator().manual_seed(0)
    start = [torch.randn(3, 4, 5, generator=g), torch.randn(3, 7, generator=g)]
    return start, [[torch.randn(p.shape, generator=g) * 3.0**-i for p in start] for i in range(steps)]


def by_torch(k: int, make: Any, clip: float | None = None, pace: Any = None) -> list[Tensor]:
    """Where torch takes member k; `pace` makes a scheduler that steps after each three gradients."""
    start, steps = problem()
    alone = [p[k].clone().requires_grad_() for p in start]
    theirs = make(alone)
    paced = pace(theirs) if pace else None
    for i, gradients in enumerate(steps):
        for p, gradient in zip(alone, gradients, strict=True):
            p.grad = gradient[k].clone()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(alone, clip)
        theirs.step()
        if paced is not None and i % 3 == 2:
            paced.step()
    assert alone and steps
    return [p.detach() for p in alone]


def ours(trainings: list[Training]) -> list[Tensor]:
    """Three epochs of three steps each."""
    start, steps = problem()
    optimizer = optimizers.build_for(trainings, start, CPU)
    for i, gradients in enumerate(steps):
        if (pace := learning_rates.factors(trainings, i // 3 + 1, CPU)) is not None:
            optimizer.set_pace(pace)
        optimizer.step(gradients)
    return start


@pytest.mark.parametrize("name", COHORTS)
def test_every_member_moves_as_with_torch_optim(name: str) -> None:
    members, kind, given = COHORTS[name]
    trainings = [
        Training.model_validate({"optimizer": NAMES[name], "learning_rate": rate, **own})
        for rate, own in zip(RATES, members, strict=True)
    ]
    stacked = ours(trainings)
    for k, (rate, own) in enumerate(zip(RATES, given, strict=True)):
        alone = by_torch(k, lambda p, rate=rate, own=own: kind(p, lr=rate, **own))
        for s, p in zip(stacked, alone, strict=True):
            torch.testing.assert_close(s[k], p, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_gradients_are_clipped_as_torch_does_for_each_member_by_itself(optimizer: str) -> None:
    clips = [0.5, None, 3.0]
    trainings = [
        Training.model_validate({"optimizer": optimizer, "learning_rate": 0.1, "clip": clip, "l2": 0.2})
        for clip in clips
    ]
    stacked = ours(trainings)
    kind = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[optimizer]
    for k, clip in enumerate(clips):
        alone = by_torch(k, lambda p: kind(p, lr=0.1, weight_decay=0.2), clip)
        for s, p in zip(stacked, alone, strict=True):
            torch.testing.assert_close(s[k], p, atol=1e-6, rtol=1e-5)


SCHEDULES: dict[str, tuple[dict[str, Any], Any]] = {
    "step": (
        {"schedule": "step", "decay": 0.3, "decay_epochs": 2},
        lambda o: lr_scheduler.StepLR(o, 2, 0.3),
    ),
    "step by default": ({"schedule": "step", "epochs": 25}, lambda o: lr_scheduler.StepLR(o, 10, 0.1)),
    "exponential": ({"schedule": "exponential", "decay": 0.7}, lambda o: lr_scheduler.ExponentialLR(o, 0.7)),
    "exponential by default": ({"schedule": "exponential"}, lambda o: lr_scheduler.ExponentialLR(o, 0.95)),
    "cosine": (
        {"schedule": "cosine", "floor": 0.1},
        lambda o: lr_scheduler.CosineAnnealingLR(o, 12, eta_min=0.1 * 0.5),
    ),
    "warm-up": ({"warm_up": 4}, lambda o: lr_scheduler.LinearLR(o, 1 / 5, total_iters=4)),
}


@pytest.mark.parametrize(("given", "make"), SCHEDULES.values(), ids=SCHEDULES)
def test_a_schedule_is_torchs(given: dict[str, Any], make: Any) -> None:
    training = Training.model_validate({"epochs": 12, "learning_rate": 0.5, **given})
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.5)
    theirs = make(optimizer)
    for epoch in range(1, training.epochs + 1):
        assert training.learning_rate * learning_rates.factor(training, epoch) == pytest.approx(theirs.get_last_lr()[0])
        optimizer.step()
        theirs.step()


@pytest.mark.filterwarnings("ignore:The epoch parameter in")  # torch's own call of its own scheduler
def test_a_schedule_begins_where_its_warm_up_ends() -> None:
    training = Training(epochs=12, learning_rate=0.5, schedule="cosine", warm_up=3)
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.5)
    parts = [lr_scheduler.LinearLR(optimizer, 1 / 4, total_iters=3), lr_scheduler.CosineAnnealingLR(optimizer, 9)]
    theirs = lr_scheduler.SequentialLR(optimizer, parts, milestones=[3])
    for epoch in range(1, 13):
        assert 0.5 * learning_rates.factor(training, epoch) == pytest.approx(theirs.get_last_lr()[0])
        optimizer.step()
        theirs.step()


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adamw"])
def test_members_follow_their_own_schedules_through_any_optimiser(optimizer: str) -> None:
    kind: Any = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}[optimizer]
    own: list[dict[str, Any]] = [{"schedule": "exponential", "decay": 0.5}, {}, {"schedule": "cosine", "clip": 2.0}]
    trainings = [Training.model_validate({"epochs": 3, "optimizer": optimizer, "learning_rate": 0.1, **o}) for o in own]
    paces: list[Any] = [
        lambda o: lr_scheduler.ExponentialLR(o, 0.5),
        None,
        lambda o: lr_scheduler.CosineAnnealingLR(o, 3),
    ]
    stacked = ours(trainings)
    for k, pace in enumerate(paces):
        alone = by_torch(k, lambda p: kind(p, lr=0.1), trainings[k].clip, pace)
        for s, p in zip(stacked, alone, strict=True):
            torch.testing.assert_close(s[k], p, atol=1e-6, rtol=1e-5)


def test_what_nobody_asks_for_is_not_built() -> None:
    plain = optimizers.build_for([Training(), Training(learning_rate=0.1)], [torch.zeros(2, 3)], CPU)
    assert type(plain) is Adam
    assert type(optimizers.build_for([Training(optimizer="sgd")], [torch.zeros(1, 3)], CPU)) is Sgd
    assert learning_rates.factors([Training(), Training()], 3, CPU) is None
