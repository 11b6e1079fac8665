"""The step's gradients against plain autograd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from service.contract.methods.models import Mlp
from service.contract.methods.problems import Bottleneck
from workers import models, problems
from workers.data.random_streams import Seeds
from workers.problems.bottleneck import Bottleneck as Problem
from workers.training import gradients
from workers.weightings import Weighting

K, B, LATENT = 3, 20, 4


class Given(Weighting):
    """A weighting that keeps the Gram matrix it was handed."""

    def __init__(self, w: Tensor, needs_gram: bool) -> None:
        self.w, self.needs_gram = w, needs_gram
        self.seen: Tensor | None = None

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        self.seen = gram
        return self.w

    def gram(self, g: Tensor, half: Tensor | None = None) -> Tensor:
        self.given = (g, half)
        return super().gram(g)


class Setup:
    def __init__(self) -> None:
        g = torch.Generator().manual_seed(0)
        self.problem = Problem(Bottleneck(), LATENT)
        sizes = models.Sizes(6, self.problem.outputs, LATENT, 5, (1, 2, 3))
        self.model = models.build(
            Mlp(widths=[7], latent=LATENT, head=[8]), sizes, Seeds([1, 2, 1], torch.device("cpu"))
        )
        x = torch.rand(K, B, 6, generator=g)
        y = torch.randint(5, (K, B), generator=g)
        self.batch = problems.Batch(x, y, torch.randn(K, B, LATENT, generator=g))
        self.w = torch.rand(K, 2, generator=g)

    def plain(self, k: int) -> tuple[Tensor, Tensor, Tensor]:
        """Member k without a member axis: losses [2], gradients over the encoder [2, P], pred's over the head."""
        e = [p[k].detach().requires_grad_() for p in self.model.encoder.leaves]
        h = [p[k].detach().requires_grad_() for p in self.model.head.leaves]
        x, y, eps = (t[k] for t in self.batch)
        out = functional.relu(x @ e[0] + e[1]) @ e[2] + e[3]
        mu, sigma = out[:, :LATENT], functional.softplus(out[:, LATENT:] - 5)
        z = mu + sigma * eps
        pred = functional.cross_entropy(functional.relu(z @ h[0] + h[1]) @ h[2] + h[3], y)
        normal = torch.distributions.Normal
        info = torch.distributions.kl_divergence(normal(mu, sigma), normal(0.0, 1.0)).sum(1).mean()
        pred_e, pred_h = (
            torch.autograd.grad(pred, e, retain_graph=True),
            torch.autograd.grad(pred, h, retain_graph=True),
        )
        info_e = torch.autograd.grad(info, e)
        encoder = torch.stack([_flat(pred_e), _flat(info_e)])
        return torch.stack((pred, info)).detach(), encoder, _flat(pred_h)


def _flat(tensors: Sequence[Tensor]) -> Tensor:
    return torch.cat([t.flatten() for t in tensors])


@pytest.fixture
def setup() -> Setup:
    return Setup()


@pytest.mark.parametrize("needs_gram", [False, True])
def test_the_update_is_the_weighted_sum_of_plain_gradients(setup: Setup, needs_gram: bool) -> None:
    weighting = Given(setup.w, needs_gram)
    found = gradients.step(setup.model, setup.problem, weighting, setup.batch)
    for k in range(K):
        losses, encoder, head = setup.plain(k)
        torch.testing.assert_close(found.losses[k], losses)
        update = setup.w[k] @ encoder
        torch.testing.assert_close(found.encoder[k], update, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(found.head[k], head, rtol=1e-5, atol=1e-6)
        if weighting.seen is not None:
            torch.testing.assert_close(weighting.seen[k], encoder @ encoder.T, rtol=1e-5, atol=1e-6)
    assert (weighting.seen is not None) == needs_gram


@pytest.mark.parametrize("needs_gram", [False, True])
def test_the_decoder_trains_when_the_weight_of_pred_is_zero(setup: Setup, needs_gram: bool) -> None:
    w = torch.tensor([[0.0, 1.0]]).expand(K, 2)
    found = gradients.step(setup.model, setup.problem, Given(w, needs_gram), setup.batch)
    full = gradients.step(setup.model, setup.problem, Given(setup.w, needs_gram), setup.batch)
    assert torch.equal(found.head, full.head)
    assert found.head.abs().amax(1).gt(0).all()


@pytest.mark.parametrize("needs_gram", [False, True])
def test_the_head_gets_the_gradients_of_all_terms_that_use_it(setup: Setup, needs_gram: bool) -> None:
    class Twice(Problem):
        def losses(self, model: Any, s: tuple[Tensor, ...], batch: Any) -> list[Tensor]:
            pred, info = setup.problem.losses(model, s, batch)
            return [pred, info, 2 * pred]

    weighting = Given(torch.ones(K, 3), needs_gram)
    found = gradients.step(setup.model, Twice(Bottleneck(), LATENT), weighting, setup.batch)
    once = gradients.step(setup.model, setup.problem, Given(setup.w, needs_gram), setup.batch)
    torch.testing.assert_close(found.head, 3 * once.head)


@pytest.mark.parametrize("needs_gram", [False, True])
def test_terms_that_miss_the_head_altogether_do_not_fail(setup: Setup, needs_gram: bool) -> None:
    class RateAlone(Problem):
        def losses(self, model: Any, s: tuple[Tensor, ...], batch: Any) -> list[Tensor]:
            return [setup.problem.losses(model, s, batch)[1]] * 2

    found = gradients.step(setup.model, RateAlone(Bottleneck(), LATENT), Given(setup.w, needs_gram), setup.batch)
    assert not found.head.any()
    assert found.encoder.any()


class OwnGram(Given):
    """Its Gram matrix is one that g gᵀ never is."""

    own_gram = True

    def gram(self, g: Tensor, half: Tensor | None = None) -> Tensor:
        return -super().gram(g, half)


@pytest.mark.parametrize("halves", [False, True])
def test_a_weighting_is_handed_its_own_gram_matrix(setup: Setup, halves: bool) -> None:
    weighting = OwnGram(setup.w, needs_gram=True)
    weighting.needs_halves = halves
    gradients.step(setup.model, setup.problem, weighting, setup.batch)
    assert weighting.seen is not None
    g = torch.stack([setup.plain(k)[1] for k in range(K)])
    torch.testing.assert_close(weighting.seen, -g @ g.mT, rtol=1e-5, atol=1e-6)
    assert (weighting.given[1] is not None) == halves


def test_half_of_the_examples_give_their_share_of_each_gradient(setup: Setup) -> None:
    weighting = Given(setup.w, needs_gram=True)
    weighting.needs_halves = True
    found = gradients.step(setup.model, setup.problem, weighting, setup.batch)
    g, half = weighting.given
    assert half is not None
    whole = setup.batch
    setup.batch = problems.Batch(*(t[:, ::2] for t in whole))
    for k in range(K):
        torch.testing.assert_close(2 * half[k], setup.plain(k)[1], rtol=1e-5, atol=1e-6)
    setup.batch = problems.Batch(*(t[:, 1::2] for t in whole))
    for k in range(K):
        torch.testing.assert_close(2 * (g - half)[k], setup.plain(k)[1], rtol=1e-5, atol=1e-6)
    full = gradients.step(setup.model, setup.problem, Given(setup.w, needs_gram=True), whole)
    torch.testing.assert_close(found.encoder, full.encoder)
