"""The min-norm point against a quadratic program, also where gradients vanish, agree or depend on each other."""

from __future__ import annotations

import numpy as np
import pytest
import quadprog
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.benchmarks.steps import min_norm_row
from workers.weightings.solving import min_norm

COUNTS = range(2, 9)


def gradients(n: int, size: int, scale: float, seed: int = 0, m: int = 20) -> Tensor:
    g = torch.Generator().manual_seed(seed)
    lengths = torch.exp(scale * torch.randn(m, n, 1, generator=g).double())
    return torch.randn(m, n, size, generator=g).double() * lengths


def norm(w: Tensor, g: Tensor) -> Tensor:
    """‖Σ w_i g_i‖², [m]."""
    return torch.einsum("mi,mip->mp", w.double(), g).square().sum(1)


def oracle(g: Tensor) -> Tensor:
    """The smallest ‖Σ w_i g_i‖² [m]; quadprog wants regular matrices, hence its ridge."""
    n, smallest = g.shape[1], []
    constraints = np.hstack((np.ones((n, 1)), np.eye(n)))
    for one in g:
        gram = (one @ one.T / one.square().sum(1).max()).numpy() + 1e-11 * np.eye(n)
        w = quadprog.solve_qp(gram, np.zeros(n), constraints, np.array([1.0] + [0.0] * n), meq=1)[0]
        smallest.append(norm(torch.tensor(w)[None], one[None])[0])
    return torch.stack(smallest)


@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize("size", [1, 2, 3, 8, 20], ids="{} dimensions".format)
@pytest.mark.parametrize("scale", [0.0, 1.0, 3.0], ids="lengths over e^{}".format)
def test_no_point_of_the_hull_is_nearer(n: int, size: int, scale: float) -> None:
    g = gradients(n, size, scale)
    w = min_norm.exact(g @ g.mT)
    assert (w >= 0).all() and w.sum(1).tolist() == pytest.approx([1.0] * len(w))
    longest = g.square().sum(2).amax(1)
    assert ((norm(w, g) - oracle(g)) / longest).max() < 1e-8


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 8), st.integers(1, 20), st.floats(0, 3))
def test_at_the_point_no_gradient_lies_below_it(seed: int, n: int, size: int, scale: float) -> None:
    """<g_i, x> ≥ ‖x‖² for all i, in single precision too, relative to the longest gradient."""
    g = gradients(n, size, scale, seed)
    longest = g.norm(dim=2).amax(1)
    for gram, rounding in ((g @ g.mT, 1e-8), ((g @ g.mT).float(), 1e-3)):
        x = torch.einsum("mi,mip->mp", min_norm.exact(gram).double(), g)
        below = x.square().sum(1) - torch.einsum("mip,mp->mi", g, x).amin(1)
        assert (below / longest.square()).max() < rounding


def test_weights_of_independent_gradients_are_the_inverse_squares_of_their_lengths() -> None:
    """Orthogonal ones, twelve orders of magnitude apart: the longest has its weight, too."""
    lengths = torch.tensor([[1e-3, 1.0, 1e3]]).double()
    w = min_norm.exact(torch.diag_embed(lengths.square()))
    torch.testing.assert_close(w, lengths**-2 / (lengths**-2).sum(), rtol=1e-8, atol=0)


def test_the_exact_point_takes_no_longer_than_the_steps_of_the_paper() -> None:
    """About a quarter of their CPU time on a quiet machine; in turns, so that what disturbs is there for both."""
    ratio = min_norm_row().ratio
    assert ratio is not None and ratio > 1


@pytest.mark.parametrize("n", COUNTS)
def test_a_gradient_of_zero_takes_the_weight_and_equal_ones_share_it(n: int) -> None:
    g = gradients(n, 5, 0.5, m=4)
    g[0, 1] = 0
    g[1, :2] = 0
    g[2] = g[2, :1]
    g[3] = 0
    w = min_norm.exact(g @ g.mT)
    expected = torch.full((4, n), 1 / n).double()
    expected[:2] = 0
    expected[0, 1], expected[1, :2] = 1, 0.5
    torch.testing.assert_close(w, expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("n", [3, 5])
def test_a_member_without_numbers_does_not_touch_the_others(n: int) -> None:
    g = gradients(n, 6, 1.0, m=3)
    alone = min_norm.exact(g[[0, 2]] @ g[[0, 2]].mT)
    g[1] = torch.nan
    w = min_norm.exact(g @ g.mT)
    torch.testing.assert_close(w[[0, 2]], alone)
    assert w[1].isnan().all()
