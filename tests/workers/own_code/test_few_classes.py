"""Cross-entropy of stacked members: torch's own numbers, in another order of the axes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.func import vmap
from torch.nn import functional as F

from workers.own_code.all_at_once import AllAtOnce
from workers.own_code.few_classes import FEW

MEMBERS, ROWS = 3, 40


def drawn(classes: int) -> tuple[Tensor, Tensor]:
    g = torch.Generator().manual_seed(0)
    logits = 10 * torch.randn(MEMBERS, ROWS, classes, generator=g)
    return logits.requires_grad_(), torch.randint(0, classes, (MEMBERS, ROWS), generator=g)


def losses(listens: AllAtOnce, logits: Tensor, targets: Tensor, **options: Any) -> Tensor:
    def one(own: Tensor, target: Tensor) -> Tensor:
        with listens:
            return F.cross_entropy(own, target, **options)

    return vmap(one)(logits, targets)


@pytest.mark.parametrize("classes", [2, 10, FEW])
@pytest.mark.parametrize("ignored", [0, 5])
def test_losses_and_gradients_are_torchs(classes: int, ignored: int) -> None:
    logits, targets = drawn(classes)
    targets[:, :ignored] = -100
    alone = torch.stack([F.cross_entropy(own, y) for own, y in zip(logits, targets, strict=True)])
    listens = AllAtOnce()
    together = losses(listens, logits, targets)
    torch.testing.assert_close(together, alone, rtol=1e-6, atol=1e-6)
    slopes = (torch.autograd.grad(values.sum(), logits)[0] for values in (together, alone))
    torch.testing.assert_close(*slopes, rtol=1e-5, atol=1e-8)
    assert listens.met


@pytest.mark.parametrize(
    "options",
    [{"weight": torch.tensor([1.0, 2.0, 3.0])}, {"label_smoothing": 0.1}, {"reduction": "sum"}, {"ignore_index": 1}],
    ids=lambda options: next(iter(options)),
)
def test_options_are_left_to_torch(options: dict[str, Any]) -> None:
    logits, targets = drawn(3)
    alone = torch.stack([F.cross_entropy(own, y, **options) for own, y in zip(logits, targets, strict=True)])
    listens = AllAtOnce()
    torch.testing.assert_close(losses(listens, logits, targets, **options), alone)
    assert not listens.met


def test_so_are_many_classes_and_probabilities() -> None:
    listens = AllAtOnce()
    logits, targets = drawn(FEW + 1)
    losses(listens, logits, targets)
    losses(listens, logits, logits.detach().softmax(-1))
    assert not listens.met


def test_a_module_of_torch_comes_to_the_same() -> None:
    logits, targets = drawn(4)
    with AllAtOnce() as listens:
        nn.CrossEntropyLoss()(logits[0], targets[0])
    assert listens.met


@pytest.mark.parametrize("wrong", [-1, 3])
def test_a_class_that_is_not_there_is_refused(wrong: int) -> None:
    logits, targets = drawn(3)
    targets[0, 0] = wrong
    with pytest.raises((RuntimeError, IndexError), match="out of bounds"):
        losses(AllAtOnce(), logits, targets)
