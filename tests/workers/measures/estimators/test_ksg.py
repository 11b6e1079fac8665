"""The nearest-neighbour estimate by hand, and where points coincide."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma
from torch import Tensor

from workers.data.random_streams import Seeds
from workers.measures.estimators import ksg
from workers.measures.estimators.samples.codes import Codes

CPU = torch.device("cpu")
FAR_BELOW = 0.2  # nats, for one


def _codes(x: Tensor, z: Tensor) -> Codes:
    """Codes whose sample is z [N, L]."""
    z = z.double()[None]
    return Codes(x.double()[None], z, torch.zeros_like(z), torch.zeros_like(z), Seeds([0], CPU))


def _draw(count: int, x: int, z: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    g = torch.Generator().manual_seed(seed)
    inputs = torch.randn(count, x, generator=g)
    return inputs, inputs[:, :1] + 0.5 * torch.randn(count, z, generator=g)


def _by_hand(x: Tensor, z: Tensor) -> float:
    """Eq. 8 point by point."""
    x, z = (t.double() / t.double().std(0) for t in (x, z))
    total = 0.0
    for i in range(len(x)):
        far_x, far_z = ((t - t[i]).abs().amax(1) for t in (x, z))
        others = torch.arange(len(x)) != i
        radius = torch.maximum(far_x, far_z)[others].sort().values[2]
        total += digamma(1 + (far_x[others] < radius).sum().item()) + digamma(1 + (far_z[others] < radius).sum().item())
    return float(digamma(3) + digamma(len(x)) - total / len(x))


@pytest.mark.parametrize(("x", "z"), [(1, 1), (2, 3), (5, 1)])
def test_it_is_equation_eight(x: int, z: int) -> None:
    pair = _draw(80, x, z)
    assert ksg.ksg(_codes(*pair)).item() == pytest.approx(_by_hand(*pair), abs=1e-10)


def test_blocks_do_not_change_it(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = _codes(*_draw(50, 2, 2))
    whole = ksg.ksg(codes)
    monkeypatch.setattr(ksg, "ENTRIES", 7 * 50)
    torch.testing.assert_close(ksg.ksg(codes), whole)


def test_units_and_signs_of_the_axes_do_not_matter() -> None:
    x, z = _draw(60, 2, 2)
    scaled = ksg.ksg(_codes(x * torch.tensor([1e3, -0.01]), z * torch.tensor([5.0, 1e-6])))
    torch.testing.assert_close(scaled, ksg.ksg(_codes(x, z)))


def test_a_constant_code_carries_exactly_nothing() -> None:
    x, z = _draw(60, 2, 2)
    assert ksg.ksg(_codes(x, torch.full_like(z, 0.7))).item() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_in_many_dimensions_it_falls_far_below_the_truth(seed: int) -> None:
    """One nat in two of as many dimensions: I = −ln(1 − ρ²) over two pairs."""
    rho = math.sqrt(1 - math.exp(-1))
    found = {}
    for dimensions in (2, 25):
        g = torch.Generator().manual_seed(seed)
        x, z = (torch.randn(1000, dimensions, generator=g, dtype=torch.float64) for _ in range(2))
        z[:, :2] = rho * x[:, :2] + math.sqrt(1 - rho**2) * z[:, :2]
        found[dimensions] = ksg.ksg(_codes(x, z)).item()
    assert found[2] == pytest.approx(1, abs=0.1) and found[25] < FAR_BELOW


def test_coinciding_pairs_are_counted_as_letters() -> None:
    """Two letters, 50 times each, and z = x: ln 2 but for the finite sample."""
    x = torch.arange(100)[:, None] % 2
    assert ksg.ksg(_codes(x, x)).item() == pytest.approx(float(digamma(100) - digamma(50)), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=4, max_size=30))
def test_ties_of_any_kind_give_a_finite_number(pairs: list[tuple[int, int]]) -> None:
    x, z = torch.split(torch.tensor(pairs), 1, dim=1)
    assert ksg.ksg(_codes(x, z)).isfinite().all()
