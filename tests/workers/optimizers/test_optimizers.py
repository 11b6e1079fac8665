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
