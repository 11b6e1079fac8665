"""DB-MTL, by autograd on log losses of a small network that trains beside it."""

from __future__ import annotations

import torch
from torch import Tensor

from service.contract.methods.weightings import DbMtl, Mgb
from workers.weightings import Setting, build

TWO = Setting(("a", "b"), 16, torch.device("cpu"))


def losses_at(theta: Tensor) -> Tensor:
    """Two positive losses of θ whose scales are far apart."""
    return torch.stack(((theta - 1).square().sum() + 0.1, 1e3 * (theta[0] + theta[1]).square() + 5))


def reference(theta: Tensor, steps: int, beta: float, sigma: float, rate: float) -> list[Tensor]:
    """The paper's algorithm, one task after the other."""
    average = torch.zeros(2, 4)
    seen = []
    for t in range(1, steps + 1):
        at = theta.clone().requires_grad_()
        rows = [torch.autograd.grad(loss, at, retain_graph=True)[0] for loss in losses_at(at).log()]
        b = beta / t**sigma
        average = b * average + (1 - b) * torch.stack(rows)
        longest = max(row.norm() for row in average)
        update = sum((longest / row.norm() * row for row in average), torch.zeros(4))
        theta = theta - rate * update
        seen.append(theta)
    return seen


def ours(theta: Tensor, steps: int, params: list[DbMtl], rate: float) -> list[Tensor]:
    weighting = build(params, TWO)
    thetas = theta.expand(len(params), 4).clone()
    seen = []
    for _ in range(steps):
        jacobians = [torch.autograd.functional.jacobian(losses_at, row) for row in thetas]
        g = torch.stack([j for j in jacobians if isinstance(j, Tensor)])
        w = weighting(torch.stack([losses_at(row) for row in thetas]), weighting.gram(g))
        thetas = thetas - rate * torch.einsum("mn,mnp->mp", w, weighting.direction(g))
        seen.append(thetas)
    return seen


def test_a_descent_is_that_of_the_paper_for_every_member() -> None:
    theta = torch.tensor([0.5, -0.2, 2.0, -1.0])
    found = ours(theta, 8, [DbMtl(decay=0.9, fading=0.5), DbMtl(decay=0.0), DbMtl(decay=0.6)], 0.01)
    assert len(found) == 8
    for k, (beta, sigma) in enumerate(((0.9, 0.5), (0.0, 0.0), (0.6, 0.0))):
        for step, expected in enumerate(reference(theta, 8, beta, sigma, 0.01)):
            torch.testing.assert_close(found[step][k], expected, atol=1e-5, rtol=1e-4)


def test_without_an_average_no_loss_scale_and_no_length_matters() -> None:
    g, losses = torch.randn(1, 2, 5, generator=torch.Generator().manual_seed(0)), torch.tensor([[2.0, 0.5]])
    updates = []
    for scale in (1.0, 1e3):
        weighting = build([DbMtl(decay=0.0)], TWO)
        scaled = g * torch.tensor([1.0, scale])[None, :, None]
        w = weighting(losses * torch.tensor([1.0, scale]), weighting.gram(scaled))
        torch.testing.assert_close(weighting.direction(scaled), scaled)
        updates.append((w[:, :, None] * scaled)[0])
    torch.testing.assert_close(updates[0], updates[1])
    torch.testing.assert_close(updates[0][0].norm(), updates[0][1].norm())


def test_only_its_own_members_of_a_mixed_cohort_go_another_way() -> None:
    g = torch.randn(3, 2, 5, generator=torch.Generator().manual_seed(0))
    losses = torch.rand(3, 2, generator=torch.Generator().manual_seed(1)) + 0.1
    mixed, alone = build([Mgb(), DbMtl(), Mgb()], TWO), build([DbMtl()], TWO)
    for _ in range(3):
        w, single = mixed(losses, mixed.gram(g)), alone(losses[1:2], alone.gram(g[1:2]))
        torch.testing.assert_close(w[1:2], single)
        torch.testing.assert_close(mixed.direction(g)[1:2], alone.direction(g[1:2]))
        assert torch.equal(mixed.direction(g)[[0, 2]], g[[0, 2]])


def test_a_loss_that_has_no_logarithm_fails_its_member_alone() -> None:
    g = torch.ones(2, 2, 3)
    weighting = build([DbMtl()] * 2, TWO)
    w = weighting(torch.tensor([[1.0, -1.0], [1.0, 1.0]]), weighting.gram(g))
    assert w[0].isnan().any() and w[1].isfinite().all()
