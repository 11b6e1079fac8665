"""Rates and information bounds against torch.distributions and by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.distributions import Normal, kl_divergence

from service.contract.models import Mlp
from service.contract.problems import Bottleneck
from workers import information, models, problems
from workers.data.streams import Seeds
from workers.information import Measured
from workers.problems.rates.vib import Rate

CPU = torch.device("cpu")


def test_the_rate_is_the_kl_to_the_prior_summed_over_dimensions() -> None:
    s = torch.randn(2, 30, 12, generator=torch.Generator().manual_seed(0)) * 3
    mu, sigma = s[..., :6], torch.nn.functional.softplus(s[..., 6:] - 5)
    expected = kl_divergence(Normal(mu, sigma), Normal(0.0, 1.0)).sum(-1)
    rate = Rate()
    torch.testing.assert_close(rate.nats(rate.code((s,))), expected)


def test_layers_start_as_those_of_torch_nn_linear() -> None:
    model = models.build(Mlp(widths=[200], latent=3), models.Sizes(100, 6, 3, 10), Seeds([0, 1], CPU))
    weight, bias = model.encoder.leaves[:2]
    assert weight.shape == (2, 100, 200) and bias.shape == (2, 1, 200)
    assert weight.abs().max() <= 0.1 and bias.abs().max() <= 0.1
    assert weight.std().item() == pytest.approx(0.1 / math.sqrt(3), rel=0.02)
    assert bias.std().item() == pytest.approx(0.1 / math.sqrt(3), rel=0.1)


def test_label_information_uses_the_measured_entropy() -> None:
    y = torch.tensor([0, 0, 0, 1])
    perfect = Measured(torch.zeros(1), torch.zeros(1), torch.ones(1))
    assert information.i_zy_bits(perfect, y).item() == pytest.approx(0.811278, abs=1e-5)
    bad = perfect._replace(cross_entropy=torch.tensor([2.0]))
    assert information.i_zy_bits(bad, y).item() == pytest.approx(0.811278 - 2 / math.log(2), abs=1e-5)
    nats = perfect._replace(rate=torch.tensor([math.log(8)]))
    assert information.i_xz_bits(nats).item() == pytest.approx(3)


def _draw(cohort: Seeds, stream: str, count: int) -> Tensor:
    """Noise of a whole split, block by block."""
    starts = range(0, count, information.ROWS)
    sizes = {start: min(information.ROWS, count - start) for start in starts}
    blocks = [
        cohort.draw(f"{stream}/{start}", lambda g, size=size: torch.randn(size, 4, generator=g))  # type: ignore[misc]
        for start, size in sizes.items()
    ]
    return cohort.spread(torch.cat(blocks, dim=1))


def _by_hand(x: Tensor, y: Tensor, seeds: list[int], samples: int) -> tuple[Measured, Measured]:
    problem = problems.build(Bottleneck(), 4)
    cohort = Seeds(seeds, CPU)
    model = models.build(Mlp(widths=[5], latent=4), models.Sizes(6, 8, 4, 3), cohort)
    model.encoder.flat.mul_(8)
    model.head.flat.mul_(8)
    found = information.measure(model, problem, x, y, seeds=cohort, stream="test", samples=samples)
    with torch.no_grad():
        s = model.encode(x.expand(len(seeds), -1, -1))
        draws = [_draw(cohort, f"test/{j}", len(x)) for j in range(samples)]
        log_q = torch.stack([problem.logits(model, s, d).log_softmax(-1) for d in draws])  # [T, K, N, C]
        entropy = -log_q[:, :, torch.arange(len(x)), y].mean((0, 2))
        hits = log_q.exp().mean(0).argmax(-1) == y
        by_hand = Measured(problem.rate(s).mean(1), entropy, hits.double().mean(1))
    return found, by_hand


@pytest.mark.parametrize("rows", [256, 16])
def test_measures_are_means_over_blocks_and_samples(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(information, "ROWS", rows)
    g = torch.Generator().manual_seed(0)
    x, y = torch.randn(50, 6, generator=g), torch.randint(3, (50,), generator=g)
    found, by_hand = _by_hand(x, y, [1, 2, 1], samples=5)
    for ours, expected in zip(found, by_hand, strict=True):
        torch.testing.assert_close(ours, expected.double(), rtol=1e-5, atol=1e-6)
