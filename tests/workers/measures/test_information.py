"""Rates and information bounds against torch.distributions and by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.distributions import Normal, kl_divergence

from service.contract.methods.models import Mlp
from service.contract.methods.problems import Bottleneck
from service.contract.methods.weightings import Fixed
from service.contract.study.parsing import check_study
from service.contract.wire.errors import InvalidInput
from tests.workers.parts import part_of
from workers import models
from workers.data.random_streams import Seeds
from workers.measures import information, labels
from workers.measures.estimators import pairwise
from workers.measures.estimators.infonce import infonce
from workers.measures.estimators.samples import blocks
from workers.measures.information import Measured
from workers.problems.bottleneck import Bottleneck as Problem
from workers.problems.rates.vib import Rate

CPU = torch.device("cpu")


def test_the_rate_is_the_kl_to_the_prior_summed_over_dimensions() -> None:
    s = torch.randn(2, 30, 12, generator=torch.Generator().manual_seed(0)) * 3
    mu, sigma = s[..., :6], torch.nn.functional.softplus(s[..., 6:] - 5)
    expected = kl_divergence(Normal(mu, sigma), Normal(0.0, 1.0)).sum(-1)
    rate = Rate()
    torch.testing.assert_close(rate.nats(rate.code((s,))), expected)


def test_layers_start_as_those_of_torch_nn_linear() -> None:
    model = models.build(Mlp(widths=[200], latent=3), models.Sizes(100, 6, 3, 10, (1, 10, 10)), Seeds([0, 1], CPU))
    weight, bias = model.encoder.leaves[:2]
    assert weight.shape == (2, 100, 200) and bias.shape == (2, 1, 200)
    assert weight.abs().max() <= 0.1 and bias.abs().max() <= 0.1
    assert weight.std().item() == pytest.approx(0.1 / math.sqrt(3), rel=0.02)
    assert bias.std().item() == pytest.approx(0.1 / math.sqrt(3), rel=0.1)


def test_label_information_uses_the_measured_entropy() -> None:
    y = torch.tensor([0, 0, 0, 1])
    assert (labels.Classes(2).surprise(y).mean() / math.log(2)).item() == pytest.approx(0.811278, abs=1e-5)
    normal = labels.StandardNormal(2)
    y = torch.randn(7, 2, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(normal.surprise(y), -Normal(0.0, 1.0).log_prob(y).sum(-1).double())
    outputs = torch.tensor([[0.3, -0.2, 0.5, -1.0]]).expand(1, 7, 4)
    exact = -Normal(outputs[..., :2], (0.5 * outputs[..., 2:]).exp()).log_prob(y).sum(-1)
    torch.testing.assert_close(normal.nats(outputs, y[None]), exact)


def _draw(cohort: Seeds, stream: str, count: int) -> Tensor:
    """Noise of a whole split, block by block."""

    def block(start: int) -> Tensor:
        size = min(information.ROWS, count - start)
        return cohort.draw(f"{stream}/{start}", lambda g: torch.randn(size, 4, generator=g))

    return cohort.spread(torch.cat([block(start) for start in range(0, count, information.ROWS)], dim=1))


def _by_hand(x: Tensor, y: Tensor, seeds: list[int], samples: int) -> tuple[Measured, Measured]:
    problem = Problem(Bottleneck(), 4)
    cohort = Seeds(seeds, CPU)
    model = models.build(Mlp(widths=[5], latent=4), models.Sizes(6, 8, 4, 3, (1, 2, 3)), cohort)
    model.encoder.flat.mul_(8)
    model.head.flat.mul_(8)
    found = information.measure(model, problem, part_of(x, y, cohort), stream="test", samples=samples)
    with torch.no_grad():
        s = model.encode(x.expand(len(seeds), -1, -1))
        draws = [_draw(cohort, f"test/{j}", len(x)) for j in range(samples)]
        log_q = torch.stack([problem.logits(model, s, d).log_softmax(-1) for d in draws])  # [T, K, N, C]
        p = torch.bincount(y) / len(y)
        gain = log_q[:, :, torch.arange(len(x)), y].mean(0) - p[y].log()  # [K, N]
        hits = log_q.exp().mean(0).argmax(-1) == y
        rate = problem.rate(s)
        errors = [t.std(1) / math.sqrt(len(x)) for t in (rate, rate, gain)]
        by_hand = Measured(rate.mean(1), rate.mean(1), gain.mean(1), hits.double().mean(1), *errors)
    return found, by_hand


@pytest.mark.parametrize("rows", [256, 16])
def test_measures_are_means_over_blocks_and_samples(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(information, "ROWS", rows)
    g = torch.Generator().manual_seed(0)
    x, y = torch.randn(50, 6, generator=g), torch.randint(3, (50,), generator=g)
    found, by_hand = _by_hand(x, y, [1, 2, 1], samples=5)
    assert all(measure.shape == (3,) for measure in by_hand)
    for ours, expected in zip(found, by_hand, strict=True):
        torch.testing.assert_close(ours, expected.double(), rtol=1e-5, atol=1e-6)


def _pair(correlation: float, count: int, seed: int) -> tuple[Tensor, Tensor, Tensor, float]:
    """Z = aX + ε with X, ε standard normal: means aX and scales 1 [1, N, 1], noise, and the exact I(X;Z) in nats."""
    a = correlation / math.sqrt(1 - correlation**2)
    g = torch.Generator().manual_seed(seed)
    mean, noise = a * torch.randn(1, count, 1, generator=g), torch.randn(1, count, 1, generator=g)
    return mean, torch.ones_like(mean), noise, -0.5 * math.log(1 - correlation**2)


@pytest.mark.parametrize("correlation", [0.5, 0.9, 0.99, 0.999])
def test_bounds_hold_on_a_gaussian_pair(correlation: float) -> None:
    draws = [_pair(correlation, 1000, seed) for seed in range(8)]
    exact = draws[0][3]
    low = sum(pairwise.lower(m, s).item() for m, s, _, _ in draws) / 8
    high = sum(pairwise.upper(m, s).item() for m, s, _, _ in draws) / 8
    nce = sum(infonce(m, s, e).item() for m, s, e, _ in draws) / 8
    assert low < exact + 0.02 and exact < high + 0.02
    assert exact - 0.1 < nce < exact + 0.03


def _codes(members: int, count: int, latent: int) -> tuple[Tensor, Tensor, Tensor]:
    g = torch.Generator().manual_seed(0)
    shape = (members, count, latent)
    mean, noise = torch.randn(shape, generator=g), torch.randn(shape, generator=g)
    return mean, 0.2 + torch.rand(shape, generator=g), noise


def test_pairwise_bounds_are_the_distances_of_torch_distributions() -> None:
    mean, scale, _ = _codes(2, 30, 20)
    one, other = Normal(mean[:, :, None], scale[:, :, None]), Normal(mean[:, None], scale[:, None])
    kl = kl_divergence(one, other).sum(-1)  # [K, N, N]
    mixed = (one.variance + other.variance) / 2
    squares = (one.mean - other.mean).square()
    bhattacharyya = (squares / mixed / 8 + 0.5 * (mixed / (one.scale * other.scale)).log()).sum(-1)
    for found, distance in ((pairwise.upper(mean, scale), kl), (pairwise.lower(mean, scale), bhattacharyya)):
        expected = -distance.double().neg().exp().mean(-1).log().mean(-1)
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)


def test_infonce_is_the_mean_log_ratio_of_densities() -> None:
    mean, scale, noise = _codes(2, 30, 5)
    z = mean + scale * noise
    log_p = Normal(mean[:, None], scale[:, None]).log_prob(z[:, :, None]).sum(-1).double()  # [K, i, j]
    expected = (log_p.diagonal(dim1=1, dim2=2) - log_p.logsumexp(-1) + math.log(30)).mean(1)
    torch.testing.assert_close(infonce(mean, scale, noise), expected, rtol=1e-5, atol=1e-5)


def test_separate_codes_tell_all_points_apart_and_equal_codes_none() -> None:
    scale, noise = torch.full((2, 50, 3), 0.1), _codes(2, 50, 3)[2]
    apart = torch.arange(50.0)[None, :, None].expand(2, 50, 3) * 10
    for mean, expected in ((apart, math.log(50)), (torch.ones(2, 50, 3), 0.0)):
        for found in (pairwise.lower(mean, scale), pairwise.upper(mean, scale), infonce(mean, scale, noise)):
            assert found.tolist() == pytest.approx([expected] * 2, abs=1e-9)


def test_the_lower_bound_is_below_the_upper_and_none_exceeds_the_log_of_the_points() -> None:
    mean, scale, noise = _codes(4, 60, 6)
    for size in (0.01, 0.3, 1.0, 30.0):
        low, high = pairwise.lower(mean * size, scale), pairwise.upper(mean * size, scale)
        assert (low <= high + 1e-9).all()
        for found in (low, high, infonce(mean * size, scale, noise)):
            assert (found <= math.log(60) + 1e-9).all()


def test_blocks_do_not_change_the_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    mean, scale, noise = _codes(3, 50, 20)
    whole = [pairwise.lower(mean, scale), pairwise.upper(mean, scale), infonce(mean, scale, noise)]
    monkeypatch.setattr(blocks, "ENTRIES", 3 * 50 * 7)
    parts = [pairwise.lower(mean, scale), pairwise.upper(mean, scale), infonce(mean, scale, noise)]
    torch.testing.assert_close(parts, whole)


def test_a_study_asks_for_estimators_and_learns_how_many_points_they_saw(cohorts: Any) -> None:
    trial = cohorts.trial("a", Fixed(beta=0.03), epochs=4)
    reports = cohorts.reports([trial], every=2, estimators=["pairwise-lower", "infonce"], estimator_samples=200)
    names = {"i_xz_pairwise-lower_bits", "i_xz_infonce_bits", "estimator_samples"}
    assert [names <= set(r.metrics["a"]) for r in reports] == [False, True, False, True]
    last = reports[-1].metrics["a"]
    assert last["estimator_samples"] == 200
    assert "i_xz_pairwise-upper_bits" not in last
    assert 0 < last["i_xz_pairwise-lower_bits"] <= last["i_xz_infonce_bits"] + 0.1
    assert last["i_xz_infonce_bits"] <= math.log2(200)


def test_an_objective_needs_its_estimator() -> None:
    arm = {"name": "a", "weighting": {"name": "fixed"}}
    first = {"metric": "i_xz_infonce_bits", "goal": "minimize"}
    body = {"name": "s", "arms": [arm], "objectives": [first, {"metric": "i_zy_bits", "goal": "maximize"}]}
    assert check_study({**body, "evaluation": {"estimators": ["infonce"]}})
    with pytest.raises(InvalidInput, match=r"needs its estimator in evaluation\.estimators") as refused:
        check_study({**body, "evaluation": {"estimators": ["pairwise-lower"]}})
    assert refused.value.details[0].path == "objectives[0].metric"


def test_accuracy_alone_is_the_accuracy_among_the_measures() -> None:
    problem, cohort = Problem(Bottleneck(), 4), Seeds([0, 5], CPU)
    model = models.build(Mlp(widths=[5], latent=4), models.Sizes(6, 8, 4, 3, (1, 2, 3)), cohort)
    with torch.no_grad():
        model.encoder.flat.mul_(8)  # codes of some width: samples of an example differ in what they are taken for
    part = part_of(torch.randn(information.ROWS + 7, 6), torch.arange(information.ROWS + 7) % 3, cohort)
    alone = information.accuracy(model, problem, part, stream="test", samples=3)
    assert not alone.equal(information.accuracy(model, problem, part, stream="test", samples=1))
    assert alone.equal(information.measure(model, problem, part, stream="test", samples=3).accuracy)
    assert alone.min() > 0
