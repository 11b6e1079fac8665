"""Dense layers of stacked members: torch's own numbers, in one operation."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.func import grad, vmap
from torch.nn import functional as F

from workers.own_code.all_at_once import AllAtOnce

MEMBERS = 3


def drawn(*rows: int) -> tuple[Tensor, Tensor, Tensor]:
    g = torch.Generator().manual_seed(0)
    shapes = ((MEMBERS, *rows, 5), (MEMBERS, 4, 5), (MEMBERS, 4))
    x, w, b = (torch.randn(shape, generator=g).requires_grad_() for shape in shapes)
    return x, w, b


def under(
    listens: AllAtOnce, function: Callable[..., Tensor], *tensors: Tensor, in_dims: int | tuple[int | None, ...] = 0
) -> Tensor:
    def one(*own: Tensor) -> Tensor:
        with listens:
            return function(*own)

    together: Tensor = vmap(one, in_dims=in_dims)(*tensors)
    return together


@pytest.mark.parametrize("rows", [(7,), (2, 7), (2, 3, 7)])
def test_outputs_and_gradients_are_torchs(rows: tuple[int, ...]) -> None:
    tensors = drawn(*rows)
    listens = AllAtOnce()
    together = under(listens, F.linear, *tensors)
    alone = torch.stack([F.linear(*own) for own in zip(*tensors, strict=True)])
    made_by = together.grad_fn
    assert made_by is not None
    assert listens.met and "Baddbmm" in str(made_by if len(rows) == 1 else made_by.next_functions)
    torch.testing.assert_close(together, alone, rtol=1e-6, atol=1e-6)
    slopes = (torch.autograd.grad(out.square().sum(), tensors) for out in (together, alone))
    for own, expected in zip(*slopes, strict=True):
        torch.testing.assert_close(own, expected, rtol=1e-5, atol=1e-5)


def test_the_place_of_the_members_is_free() -> None:
    x, w, b = drawn(7)
    listens = AllAtOnce()
    together = under(listens, F.linear, x.movedim(0, 1), w.movedim(0, 2), b, in_dims=(1, 2, 0))
    torch.testing.assert_close(together, torch.stack([F.linear(*own) for own in zip(x, w, b, strict=True)]))
    assert listens.met


def test_what_all_members_share_is_left_to_torch() -> None:
    x, w, b = drawn(7)
    listens = AllAtOnce()
    together = under(listens, lambda own_w, own_b: F.linear(x[0], own_w, own_b), w, b)
    torch.testing.assert_close(together, torch.stack([F.linear(x[0], *own) for own in zip(w, b, strict=True)]))
    assert not listens.met


def test_so_is_what_is_differentiated_or_mapped_again_within() -> None:
    x, w, b = drawn(7)
    listens = AllAtOnce()
    together = under(listens, lambda *own: grad(lambda at: F.linear(at, *own[1:]).square().sum())(own[0]), x, w, b)
    by_row = under(listens, lambda *own: vmap(lambda row: F.linear(row[None], *own[1:])[0])(own[0]), x, w, b)
    assert not listens.met
    for own, y, rows in zip(zip(x, w, b, strict=True), together, by_row, strict=True):
        out = F.linear(*own)
        torch.testing.assert_close(y, 2 * out @ own[1])
        torch.testing.assert_close(rows, out)


@pytest.mark.parametrize("name", ["bias", "vector"])
def test_so_are_a_layer_without_a_bias_and_a_single_row(name: str) -> None:
    x, w, b = drawn(7)
    listens = AllAtOnce()
    if name == "bias":
        under(listens, F.linear, x, w)
    else:
        under(listens, F.linear, x[:, 0], w, b)
    assert not listens.met


def test_outside_of_a_vmap_nothing_changes() -> None:
    layer = nn.Linear(5, 4)
    with AllAtOnce() as listens:
        layer(torch.ones(2, 5))
    assert not listens.met
