"""ConFIG from the Gram matrix, by torchjd's from the gradients."""

from __future__ import annotations

import pytest
import torch
from torchjd import aggregation

from service.contract.methods.weightings import Config
from workers.weightings import Setting, build

THREE = Setting(("a", "b", "c"), 16, torch.device("cpu"))


def gradients(members: int) -> torch.Tensor:
    g = torch.Generator().manual_seed(2)
    return torch.randn(members, 3, 9, generator=g) * torch.exp(2 * torch.randn(members, 3, 1, generator=g))


@pytest.mark.parametrize(("preference", "shares"), [("equal", [1 / 3, 1 / 3, 1 / 3]), (0.5, [0.5, 0.25, 0.25])])
def test_the_update_is_torchjds(preference: float, shares: list[float]) -> None:
    g = gradients(20).double()
    w = build([Config(preference=preference)] * 20, THREE)(torch.ones(20, 3).double(), g @ g.mT)
    theirs = aggregation.ConFIG(torch.tensor(shares).double())
    torch.testing.assert_close(torch.einsum("mn,mnp->mp", w, g), torch.stack([theirs(one) for one in g]))


def test_every_gradient_has_the_same_cosine_with_the_update_whatever_its_length() -> None:
    g = gradients(20)
    g[:, 1] *= 1e3
    w = build([Config()] * 20, THREE)(torch.ones(20, 3), g @ g.mT)
    update = torch.einsum("mn,mnp->mp", w.double(), g.double())
    cosines = torch.cosine_similarity(update[:, None], g.double(), dim=2)
    assert (cosines > 0).all()
    torch.testing.assert_close(cosines, cosines[:, :1].expand(-1, 3), atol=1e-3, rtol=1e-3)


def test_opposite_gradients_leave_no_direction_and_missing_ones_no_trouble() -> None:
    opposite = torch.tensor([[1.0, 2.0], [-1.0, -2.0], [1.0, 2.0]])
    lone = torch.tensor([[1.0, 2.0], [0.0, 0.0], [0.0, 0.0]])
    g = torch.stack((opposite[[0, 1, 1]], lone, torch.zeros(3, 2)))
    w = build([Config()] * 3, THREE)(torch.ones(3, 3), g @ g.mT)
    assert w.isfinite().all()
    torch.testing.assert_close(torch.einsum("mn,mnp->mp", w, g)[1:], torch.stack((lone[0], torch.zeros(2))))


def test_a_member_without_numbers_does_not_touch_the_others() -> None:
    g = gradients(3)
    whole = build([Config()] * 3, THREE)(torch.ones(3, 3), g @ g.mT)
    g[1] = torch.nan
    w = build([Config()] * 3, THREE)(torch.ones(3, 3), g @ g.mT)
    torch.testing.assert_close(w[[0, 2]], whole[[0, 2]])
    assert w[1].isnan().all()
