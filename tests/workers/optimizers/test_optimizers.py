"""Stacked optimisers against torch.optim, member by member."""

from __future__ import annotations

from typing import Literal

import pytest
import torch

from workers import optimizers


@pytest.mark.parametrize("name", ["adam", "sgd"])
def test_every_member_moves_as_with_torch_optim(name: Literal["adam", "sgd"]) -> None:
    g = torch.Generator().manual_seed(0)
    rates = [1e-3, 1e-2, 0.3]
    start = [torch.randn(3, 4, 5, generator=g), torch.randn(3, 7, generator=g)]
    steps = [[torch.randn(p.shape, generator=g) * 10.0**-i for p in start] for i in range(9)]
    stacked = [p.clone() for p in start]
    ours = optimizers.build(name, stacked, torch.tensor(rates))
    for gradients in steps:
        ours.step(gradients)
    kind = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[name]
    for k, rate in enumerate(rates):
        alone = [p[k].clone().requires_grad_() for p in start]
        theirs = kind(alone, lr=rate)
        for gradients in steps:
            for p, gradient in zip(alone, gradients, strict=True):
                p.grad = gradient[k].clone()
            theirs.step()
        for p, s in zip(alone, stacked, strict=True):
            torch.testing.assert_close(s[k], p.detach(), atol=1e-6, rtol=1e-6)


def test_a_parameter_with_a_pace_has_so_many_times_the_learning_rate_with_adam_alone() -> None:
    names: tuple[Literal["adam", "sgd"], ...] = ("adam", "sgd")
    moved = []
    for name in names:
        parameters = [torch.zeros(1, 3)]
        pace = torch.tensor([1.0, 16.0, 16.0])
        optimizers.build(name, parameters, torch.tensor([0.1]), paces=[pace]).step([torch.tensor([[1.0, 1.0, -2.0]])])
        moved.append(parameters[0])
    torch.testing.assert_close(moved[0], torch.tensor([[-0.1, -1.6, 1.6]]))
    torch.testing.assert_close(moved[1], torch.tensor([[-0.1, -0.1, 0.2]]))
