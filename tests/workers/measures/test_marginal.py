"""The fitted marginal: a bound on I(X;Z) that follows the code wherever it lies, against torch.distributions."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.distributions import Independent, MultivariateNormal, Normal, kl_divergence

from workers.measures import marginal
from workers.measures.estimators import pairwise
from workers.measures.marginal import Marginal
from workers.models.components.latent_code import Code
from workers.problems.rates import kl_to_prior

CLASSES, LATENT = 4, 3


def fit(code: Code, y: Tensor) -> Marginal:
    """With labels y [N, …] that all members share."""
    return marginal.fit(code, y.expand(len(code.mean), *y.shape))


def _codes(seed: int, members: int = 2, count: int = 300, apart: float = 3.0) -> tuple[Code, Tensor]:
    """Correlated codes of four classes, `apart` their centres' deviation, one level of noise per example."""
    g = torch.Generator().manual_seed(seed)
    y = torch.arange(count) % CLASSES
    mixing = torch.randn(members, LATENT, LATENT, generator=g)
    centres = apart * torch.randn(members, CLASSES, LATENT, generator=g)
    mean = centres[:, y] + torch.randn(members, count, LATENT, generator=g) @ mixing
    return Code(mean, 0.2 + torch.rand(members, count, LATENT, generator=g)), y


def _continuous(y: Tensor) -> Tensor:
    """Labels of another kind for the same examples: no classes, so one Gaussian."""
    return y[:, None].double()


def test_one_gaussian_has_the_moments_of_the_aggregated_posterior() -> None:
    code, y = _codes(0)
    mean = code.mean[0].double()
    covariance = mean.T.cov(correction=0) + code.scale[0].double().square().mean(0).diag()
    r = MultivariateNormal(mean.mean(0), covariance)
    each = [MultivariateNormal(m, s.square().diag()) for m, s in zip(mean, code.scale[0].double(), strict=True)]
    expected = torch.stack([kl_divergence(q, r) for q in each])
    torch.testing.assert_close(fit(code, _continuous(y)).nats(code)[0], expected)


def test_classes_of_unequal_size_in_one_heap_are_one_gaussian() -> None:
    """The middle of all codes, not of the classes' centres."""
    code, _ = _codes(0, apart=0.0)
    y = torch.tensor([0] * 280 + [1] * 15 + [2] * 5)
    moved = Code(code.mean + (y == 2)[:, None] * 0.5, code.scale)
    torch.testing.assert_close(fit(moved, y).nats(moved), fit(moved, _continuous(y)).nats(moved))


def test_classes_of_unequal_size_apart_have_their_shares() -> None:
    code, _ = _codes(1, members=1, apart=0.0)
    y = torch.tensor([0] * 200 + [1] * 100)
    far = Code(code.mean + 500.0 * y[:, None], code.scale)
    r = fit(far, y)
    torch.testing.assert_close(r.log_p[0].exp(), torch.tensor([2 / 3, 1 / 3]).double())
    torch.testing.assert_close(r.centres[0], torch.stack([far.mean[0][y == c].double().mean(0) for c in (0, 1)]))


def test_classes_apart_are_a_mixture_with_one_covariance() -> None:
    code, y = _codes(1, members=1, apart=30.0)
    mean, scale = code.mean[0].double(), code.scale[0].double()
    centres = torch.stack([mean[y == c].mean(0) for c in range(CLASSES)])
    covariance = (mean - centres[y]).T.cov(correction=0) + scale.square().mean(0).diag()
    q = MultivariateNormal(mean[:, None], scale.square().diag_embed()[:, None])
    kl = kl_divergence(q, MultivariateNormal(centres, covariance))  # [N, C]
    expected = -((-kl).logsumexp(1) - math.log(CLASSES))
    torch.testing.assert_close(fit(code, y).nats(code)[0], expected)


@pytest.mark.parametrize("apart", [0.0, 1.0, 3.0, 10.0])
def test_on_its_own_codes_it_is_never_looser_than_the_prior_or_any_diagonal_gaussian(apart: float) -> None:
    code, y = _codes(2, apart=apart)
    variance = code.mean.var(1, correction=0, keepdim=True) + code.scale.square().mean(1, keepdim=True)
    diagonal = Normal(code.mean.mean(1, keepdim=True), variance.sqrt())
    best = kl_divergence(Normal(code.mean, code.scale), diagonal).sum(-1).mean(1).double()
    one, either = (fit(code, labels).nats(code).mean(1) for labels in (_continuous(y), y))
    assert (either <= one + 1e-9).all() and (one < best).all() and (best < kl_to_prior(code).mean(1)).all()


def test_it_bounds_what_held_out_codes_carry() -> None:
    for apart in (0.0, 3.0, 10.0):
        code, y = _codes(3, count=1200, apart=apart)
        train, test = (Code(code.mean[:, part], code.scale[:, part]) for part in (slice(800), slice(800, None)))
        bound = fit(train, y[:800]).nats(test).mean(1)
        assert (bound > pairwise.lower(test.mean, test.scale)).all()


def test_it_is_above_the_kl_to_the_mixture_that_it_stands_for() -> None:
    code, y = _codes(4, members=1, apart=2.0)
    r = fit(code, y)
    assert r.centres[0].std(0).min() > 0.1, "the classes are told apart here"
    components = MultivariateNormal(r.centres[0], precision_matrix=r.whitening[0].T @ r.whitening[0])
    q = Independent(Normal(code.mean[0].double(), code.scale[0].double()), 1)
    torch.manual_seed(0)
    z = q.sample(torch.Size([400]))  # [S, N, L]
    log_r = (r.log_p + components.log_prob(z[:, :, None])).logsumexp(-1)
    exact = (q.log_prob(z) - log_r).mean()
    assert exact - 0.01 < r.nats(code).mean() < exact + 0.3


def test_moving_stretching_or_turning_the_code_costs_nothing() -> None:
    """None of it changes the information; the KL to N(0, I) takes all of it for information."""
    code, y = _codes(5)
    code = Code(code.mean, torch.full((2, 1, 1), 0.5))  # turned noise stays diagonal
    turn, _ = torch.linalg.qr(torch.randn(LATENT, LATENT, generator=torch.Generator().manual_seed(0)))
    moved = Code(20 + 7 * code.mean @ turn, 7 * code.scale)
    torch.testing.assert_close(fit(moved, y).nats(moved), fit(code, y).nats(code), rtol=1e-4, atol=1e-4)
    assert (kl_to_prior(moved).mean(1) > 5 * kl_to_prior(code).mean(1)).all()


def test_a_member_has_the_marginal_it_would_have_alone() -> None:
    far, near = _codes(6, members=1, apart=20.0), _codes(7, members=1, apart=0.0)
    code = Code(torch.cat([far[0].mean, near[0].mean]), torch.cat([far[0].scale, near[0].scale]))
    both = fit(code, far[1])
    for k, (own, y) in enumerate((far, near)):
        torch.testing.assert_close(both.nats(code)[k : k + 1], fit(own, y).nats(own))
    spread = both.centres.std(1).amax(1)
    assert spread[0] > 1 and spread[1] == 0, "each took the form that suits its codes"


def test_a_class_that_is_missing_and_a_member_that_is_broken_harm_nobody_else() -> None:
    code, y = _codes(8, members=3)
    code.mean[1] = torch.nan
    code.scale[2] = 0.0
    code.mean[2, :, 1] = 0.0  # no noise and no spread: a covariance without an inverse
    bits = fit(code, torch.where(y == 2, 5, y)).nats(code).mean(1)
    assert bits.isfinite().tolist() == [True, False, False]


def test_a_code_without_noise_has_no_finite_bound() -> None:
    code, y = _codes(9)
    silent = Code(code.mean, torch.zeros(()))  # as rate none has it
    assert not fit(silent, y).nats(silent).isfinite().any()
