"""Nonlinear IB against its formula, and training without a bottleneck."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from service.contract.methods.data import Digits
from service.contract.methods.models import Mlp
from service.contract.methods.problems import Bottleneck
from service.contract.methods.weightings import Fixed, Mib
from tests.workers.training.test_gradients import Given
from workers import data, models, problems
from workers.data.random_streams import Seeds
from workers.models.components.latent_code import Code
from workers.problems.bottleneck import Bottleneck as Problem
from workers.problems.rates.nib import Rate as Nib
from workers.training import gradients
from workers.training.loop import Cohort

CPU = torch.device("cpu")
K, B, LATENT = 3, 20, 4
NIB, NONE = Bottleneck(rate="nib"), Bottleneck(rate="none")


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def by_double_loop(f: Tensor, phi: float) -> float:
    """−mean_i log[(1/N) Σ_j exp(−‖f_i − f_j‖² / 2σ²)] for f [N, L], in Python's float64."""
    points, variance = f.double().tolist(), math.log1p(math.exp(phi))
    total = 0.0
    for a in points:
        near = [math.exp(-sum((p - q) ** 2 for p, q in zip(a, b, strict=True)) / (2 * variance)) for b in points]
        total -= math.log(sum(near) / len(points))
    return total / len(points)


@pytest.mark.parametrize("spread", [0.01, 0.3, 3.0])
def test_the_nib_rate_is_the_pairwise_formula(spread: float) -> None:
    rate, f = Nib(), draw(K, B, LATENT) * spread
    phi = torch.tensor([-5.0, -1.0, 2.0]).view(K, 1, 1)
    found = rate.nats(rate.code((f, phi))).mean(1)
    expected = [by_double_loop(f[k], phi[k].item()) for k in range(K)]
    assert found.tolist() == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("spread", [0.0, 1.0, 1e3, 1e6])
def test_the_nib_rate_lies_between_zero_and_the_log_of_the_batch(spread: float) -> None:
    nats = Nib().nats(Code(draw(K, B, LATENT) * spread + spread, torch.full((K, 1, 1), 0.1))).mean(1)
    assert (nats >= -1e-6).all() and (nats <= math.log(B) + 1e-6).all()
    if spread >= 1e3:
        assert nats.tolist() == pytest.approx([math.log(B)] * K)
    if not spread:
        assert nats.tolist() == pytest.approx([0.0] * K, abs=1e-6)


@pytest.mark.parametrize("needs_gram", [False, True])
def test_the_noise_level_is_a_shared_parameter_with_the_gradient_of_both_terms(needs_gram: bool) -> None:
    problem = Problem(NIB, LATENT)
    sizes = models.Sizes(6, problem.outputs, LATENT, 5, shape=(1, 1, 6), scalars=problem.scalars)
    model = models.build(Mlp(widths=[7], latent=LATENT), sizes, Seeds([1, 2, 1], CPU))
    model.encoder.flat[:, -1] = torch.tensor([-3.0, -1.0, 0.5])
    y = torch.randint(5, (K, B), generator=torch.Generator().manual_seed(1))
    batch = problems.Batch(draw(K, B, 6), y, draw(K, B, LATENT, seed=2))
    weighting = Given(torch.tensor([[0.7, 0.2]]).expand(K, 2), needs_gram)
    found = gradients.step(model, problem, weighting, batch)
    assert found.encoder.shape == model.encoder.flat.shape
    for k in range(K):
        e = [p[k].detach().requires_grad_() for p in model.encoder.leaves]
        h = [p[k].detach() for p in model.head.leaves]
        f = functional.relu(batch.x[k] @ e[0] + e[1]) @ e[2] + e[3]
        variance = functional.softplus(e[4])
        z = f + variance.sqrt() * batch.noise[k]
        pred = functional.cross_entropy(_decode(h, z), y[k])
        distances = (f[:, None] - f[None]).square().sum(-1)
        info = -(torch.exp(-distances / (2 * variance)).mean(1)).log().mean()
        g = torch.stack(
            [torch.cat([t.flatten() for t in torch.autograd.grad(v, e, retain_graph=True)]) for v in (pred, info)]
        )
        assert g[:, -1].abs().min() > 1e-4, "both terms depend on φ"
        torch.testing.assert_close(found.losses[k], torch.stack((pred, info)).detach())
        torch.testing.assert_close(found.encoder[k], weighting.w[k] @ g, rtol=1e-4, atol=1e-6)
        if weighting.seen is not None:
            torch.testing.assert_close(weighting.seen[k], g @ g.T, rtol=1e-4, atol=1e-6)


def _decode(leaves: list[Tensor], z: Tensor) -> Tensor:
    for i in range(0, len(leaves), 2):
        z = (functional.relu(z) if i else z) @ leaves[i] + leaves[i + 1]
    return z


def test_the_noise_level_trains(cohorts: Any) -> None:
    trials = [cohorts.trial(str(b), Fixed(beta=b))._replace(problem=NIB) for b in (0.0, 30.0)]
    cohort = Cohort(trials, [data.load(Digits())], CPU)
    for epoch in (1, 2, 3):
        cohort.train_epoch(epoch)
    quiet, noisy = cohort.model.encoder.leaves[-1].flatten().tolist()
    assert quiet < Nib.scalars[0] < noisy, "prediction wants less noise, compression more"


def test_each_of_16_mixed_nib_members_equals_training_it_alone(cohorts: Any) -> None:
    weightings = [*(Fixed(beta=b) for b in (0.0, 0.01, 0.1, 1.0)), Mib(), Mib(normalize="l2"), Mib(power=1)]
    weightings.append(Mib(solver="frank-wolfe"))
    rates = itertools.cycle([1e-3, 2e-3, 5e-4])
    trials = [
        cohorts.trial(f"{i}-{seed}", w, seed=seed, epochs=2, learning_rate=next(rates))._replace(problem=NIB)
        for i, w in enumerate(weightings)
        for seed in (3, 7)
    ]
    asked = {"estimators": ["pairwise-lower", "pairwise-upper", "infonce"]}
    together = cohorts.reports(trials, **asked)
    assert len(together) == 2 and len(trials) == 16
    for trial in trials:
        for a, b in zip(cohorts.reports([trial], **asked), together, strict=True):
            expected, found = ({m: v for m, v in r.metrics[trial.id].items() if m != "seconds"} for r in (a, b))
            assert found == pytest.approx(expected, rel=1e-4, abs=1e-5), trial.id


EVERY_EXAMPLE = 10.5  # bits that would tell all 1,437 training images apart


def test_more_compression_gives_nib_a_lower_rate_and_a_bound_that_says_something(cohorts: Any) -> None:
    betas = [1e-2, 1e-1, 2e-1, 3e-1, 6e-1, 2.0]
    trials = [cohorts.trial(str(b), Fixed(beta=b), epochs=40)._replace(problem=NIB, model=Mlp()) for b in betas]
    final = cohorts.reports(trials, every=40)[-1].metrics
    rates = [final[str(b)]["loss_info"] for b in betas]
    assert all(less < more + 0.05 for more, less in itertools.pairwise(rates)), rates
    assert rates[0] > 4.5 and 1 < rates[3] < 4 and rates[-1] < 0.1, rates
    assert final["0.1"]["accuracy"] > 0.9
    for beta, most in (("0.1", 20.0), ("0.2", EVERY_EXAMPLE), ("0.3", EVERY_EXAMPLE)):
        tight, loose = final[beta]["i_xz_bits"], final[beta]["kl_prior_bits"]
        print(f"NIB, β {beta}: {tight:.1f} bits by the fitted marginal, {loose:.0f} by N(0, I)")
        assert 3 * tight < loose and tight < most


def test_without_a_bottleneck_digits_are_learned_and_information_is_null(cohorts: Any) -> None:
    trial = cohorts.trial("a", Fixed(), epochs=40)._replace(problem=NONE, model=Mlp())
    asked = ["pairwise-lower", "pairwise-upper", "infonce"]
    last = cohorts.reports([trial], every=40, estimators=asked)[-1].metrics["a"]
    assert last["accuracy"] > 0.9
    assert last["i_xz_bits"] is None and last["loss_info"] == 0.0
    assert last["i_zy_bits"] > 2.5
    assert all(last[f"i_xz_{name}_bits"] is None for name in asked)


@pytest.mark.parametrize("normalize", ["none", "l2", "loss", "loss+"])
@pytest.mark.parametrize("solver", ["exact", "frank-wolfe"])
def test_mib_survives_the_zero_gradient_of_no_bottleneck(cohorts: Any, normalize: Any, solver: Any) -> None:
    trial = cohorts.trial("a", Mib(normalize=normalize, solver=solver), epochs=2)._replace(problem=NONE)
    last = cohorts.reports([trial])[-1]
    assert not last.failures
    assert last.metrics["a"]["weight_pred"] == pytest.approx(0, abs=1e-3), "zero is the min-norm point"
    assert last.metrics["a"]["loss_info"] == 0.0
