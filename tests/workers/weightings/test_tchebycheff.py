"""The Tchebycheff scalarisation, by its gradient and as the limit of the smooth one."""

from __future__ import annotations

import pytest
import torch

from service.contract.methods.weightings import Stch, Tchebycheff
from workers.weightings import Setting, build

THREE = Setting(("a", "b", "c"), 1, torch.device("cpu"))
PREFERENCES = [("equal", [1 / 3, 1 / 3, 1 / 3]), (0.8, [0.2, 0.4, 0.4])]


@pytest.mark.parametrize(("preference", "shares"), PREFERENCES)
def test_weights_are_the_gradient_of_the_largest_weighted_loss(preference: float, shares: list[float]) -> None:
    losses = torch.rand(20, 3, generator=torch.Generator().manual_seed(4), requires_grad=True)
    weights = build([Tchebycheff(preference=preference)] * 20, THREE)(losses.detach(), None)
    (gradient,) = torch.autograd.grad((losses * torch.tensor(shares)).amax(1).sum(), losses)
    torch.testing.assert_close(weights, gradient)
    assert len(set(weights.argmax(1).tolist())) > 1, "one term that is always the largest would show little"


def test_it_is_what_the_smooth_one_tends_to() -> None:
    losses = torch.tensor([[0.5, 2.0, 0.6], [3.0, 1.0, 1.1]])
    exact, smooth = Tchebycheff(preference=0.5), Stch(preference=0.5, mu=1e-3)
    torch.testing.assert_close(build([exact] * 2, THREE)(losses, None), build([smooth] * 2, THREE)(losses, None))


def test_equal_terms_share_the_step_and_one_without_a_number_has_no_weight() -> None:
    losses = torch.tensor([[1.0, 1.0, 0.0], [torch.nan, 1.0, 2.0]])
    weights = build([Tchebycheff()] * 2, THREE)(losses, None)
    torch.testing.assert_close(weights[0], torch.tensor([1 / 6, 1 / 6, 0.0]))
    assert weights[1].isnan().any(), "its member fails with the name of the loss"
