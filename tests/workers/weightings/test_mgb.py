"""MGB against torchjd's projection on the dual cone, and its promise: no conflict with any auxiliary."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torchjd import aggregation, linalg

from service.contract.methods.weightings import Mgb
from workers.weightings import Setting, build

CPU = torch.device("cpu")


def gradients(m: int, n: int, size: int = 8, seed: int = 0) -> Tensor:
    g = torch.Generator().manual_seed(seed)
    return torch.randn(m, n, size, generator=g) * torch.exp(torch.randn(m, n, 1, generator=g))


def weights(g: Tensor) -> Tensor:
    m, n = g.shape[:2]
    setting = Setting(tuple(f"t{i}" for i in range(n)), 1, CPU)
    return build([Mgb()] * m, setting)(torch.ones(m, n).to(g), g @ g.mT)


def update(g: Tensor) -> Tensor:
    return torch.einsum("mi,mip->mp", weights(g), g)


@pytest.mark.parametrize("n", [2, 3, 4, 6, 10])
def test_mgb_is_dual_proj_with_the_preference_on_the_main_term(n: int) -> None:
    g = gradients(60, n, size=12).double()
    oracle = aggregation.DualProjWeighting(
        torch.eye(n).double()[0], linalg.QuadprogProjector(norm_eps=1e-12, reg_eps=1e-12)
    )
    expected = torch.stack([oracle(one @ one.T) for one in g])
    torch.testing.assert_close(weights(g), expected, atol=1e-4, rtol=1e-4)
    assert (expected[:, 1:] > 0).any() and (expected[:, 1:] == 0).any(), "some conflict, some do not"


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 12), st.integers(1, 12))
def test_the_update_conflicts_with_no_auxiliary(seed: int, n: int, size: int) -> None:
    """Also where gradients depend on each other linearly: fewer dimensions than terms."""
    g = gradients(20, n, size, seed).double()
    x = update(g)
    along = torch.einsum("mkp,mp->mk", g[:, 1:], x) / (g[:, 1:].norm(dim=2) * g[:, 0].norm(dim=1, keepdim=True))
    assert along.min() > -1e-4
    assert (weights(g) >= 0).all()


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_no_vector_without_conflicts_is_nearer_to_the_main_gradient(seed: int, n: int) -> None:
    """The condition of optimality: γ_k <g_k, x> = 0 for every auxiliary."""
    g = gradients(10, n, seed=seed).double()
    w = weights(g)
    slack = torch.einsum("mkp,mp->mk", g[:, 1:], update(g))
    assert (w[:, 1:] * slack).abs().max() < 1e-4 * float(g.square().sum((1, 2)).max())


def test_one_auxiliary_has_a_closed_form() -> None:
    g = gradients(50, 2)
    b = (g[:, 0] * g[:, 1]).sum(1)
    expected = (-b / g[:, 1].square().sum(1)).clamp_min(0)
    torch.testing.assert_close(weights(g)[:, 1], expected)
    assert 5 < int((expected > 0).sum()) < 45


def test_what_does_not_conflict_is_left_alone() -> None:
    g = torch.tensor([[[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    assert weights(g).tolist() == [[1.0, 0.0, 0.0]]


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_zero_gradients_get_no_weight(n: int) -> None:
    g = gradients(4, n)
    g[0, 0] = 0  # the main one
    g[1, 1:] = 0
    g[2] = 0
    w = weights(g)
    assert w.isfinite().all() and w[:, 0].tolist() == [1.0] * 4
    assert not w[:3, 1:].any()


def test_opposite_auxiliaries_leave_what_is_orthogonal_to_both() -> None:
    g = torch.tensor([[[1.0, 1.0], [1.0, 0.0], [-1.0, 0.0]]])
    torch.testing.assert_close(update(g), torch.tensor([[0.0, 1.0]]), atol=1e-5, rtol=0)


def test_a_member_without_numbers_does_not_touch_the_others() -> None:
    g = gradients(3, 4)
    alone = weights(g[[0, 2]])
    g[1] = torch.nan
    torch.testing.assert_close(weights(g)[[0, 2]], alone)
