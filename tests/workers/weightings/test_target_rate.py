"""The rate that was asked for is the rate that is trained."""

from __future__ import annotations

import math
from statistics import mean
from typing import Literal

import pytest
import torch

from service.contract.methods.data import Digits
from service.contract.methods.models import Mlp
from service.contract.methods.problems import Bottleneck
from service.contract.methods.weightings import Fixed, TargetRate, Uniform
from service.contract.study.expansion import PlannedTrial
from service.contract.study.study import Evaluation, Training
from workers.training.loop import train
from workers.weightings import Setting, build

CPU = torch.device("cpu")
SETTING = Setting(("pred", "info"), 16, CPU)


def number(value: float | None) -> float:
    assert value is not None
    return value


def trial(bits: float, problem: Bottleneck, beta: float, epochs: int) -> PlannedTrial:
    weighting, model = TargetRate(rate_bits=bits, beta=beta), Mlp(widths=[64, 64], latent=16)
    return PlannedTrial(f"{bits:g}", "arm", 0, {}, problem, weighting, model, Training(epochs=epochs))


@pytest.mark.parametrize(("transform", "beta"), [("identity", 1e-2), ("square", 1e-4)])
def test_three_targets_in_one_cohort_are_met(transform: Literal["identity", "square"], beta: float) -> None:
    """Of a squared rate it is still the rate itself that is held. The last epochs are averaged: one alone wobbles.

    A square multiplies β by 2r, at first by hundreds: from a larger β dimensions would die before it comes down.
    """
    problem = Bottleneck(transform=transform)
    trials = [trial(bits, problem, beta, epochs=40) for bits in (5.0, 10.0, 20.0)]
    reports = list(train(trials, Digits(), Evaluation(every=40), CPU))
    for t in trials:
        bits = mean(number(r.metrics[t.id]["loss_info"]) for r in reports[-5:]) / math.log(2)
        assert bits == pytest.approx(float(t.id), rel=0.1)
    labels = [number(reports[-1].metrics[t.id]["i_zy_bits"]) for t in trials]
    assert labels == sorted(labels), "a larger rate tells more about the label"
    assert all(number(reports[-1].metrics[t.id]["accuracy"]) > 0.8 for t in trials)


def test_beta_rises_above_the_target_and_falls_below_it_by_a_limited_step() -> None:
    weighting = build([TargetRate(rate_bits=8.0, speed=0.1, beta=0.5)] * 4, SETTING)
    r = 8.0 * math.log(2)
    rates = torch.tensor([r, 1.1 * r, 1e6, 0.0])
    w = weighting(torch.stack((torch.ones(4), rates), dim=1), None)
    assert w[:, 0].tolist() == [1.0] * 4
    expected = [0.0, 0.01, 0.02, -0.02]
    assert (w[:, 1] / 0.5).log().tolist() == pytest.approx(expected, abs=1e-6)


def test_beta_stays_within_its_bounds() -> None:
    specs = [TargetRate(rate_bits=r, speed=5.0, beta_min=1e-3, beta_max=0.1) for r in (1.0, 1e6)]
    weighting = build(specs, SETTING)
    for _ in range(20):
        w = weighting(torch.tensor([[1.0, 50.0]] * 2), None)
    assert w[:, 1].tolist() == pytest.approx([0.1, 1e-3])


def test_a_first_beta_outside_its_bounds_starts_at_the_nearer_one() -> None:
    specs = [TargetRate(rate_bits=8.0, speed=0.1, beta=beta, beta_min=0.01, beta_max=0.1) for beta in (9.0, 1e-5)]
    rates = torch.tensor([[1.0, 0.0], [1.0, 1e6]])
    w = build(specs, SETTING)(rates, None)
    assert (w[:, 1] / torch.tensor([0.1, 0.01])).log().tolist() == pytest.approx([-0.02, 0.02], abs=1e-6)


def test_it_is_the_rate_before_its_transform_that_is_held() -> None:
    r = 8.0 * math.log(2)
    squared = SETTING._replace(terms=("pred", "other", "info"), raw=lambda losses: losses.sqrt())
    w = build([TargetRate(rate_bits=8.0, speed=0.1, beta=0.5)], squared)(torch.tensor([[1.0, 4.0, r * r]]), None)
    assert w[0].tolist() == pytest.approx([1.0, 1.0, 0.5])


def test_members_have_betas_of_their_own() -> None:
    both = build([TargetRate(rate_bits=5.0), TargetRate(rate_bits=50.0, beta=1.0)], SETTING)
    alone = build([TargetRate(rate_bits=50.0, beta=1.0)], SETTING)
    losses = torch.tensor([[1.0, 9.0], [1.0, 30.0]])
    for _ in range(3):
        torch.testing.assert_close(both(losses, None)[1:], alone(losses[1:], None))


def test_uniform_is_beta_one() -> None:
    losses = torch.rand(2, 2)
    torch.testing.assert_close(
        build([Uniform()] * 2, SETTING)(losses, None), build([Fixed(beta=1.0)] * 2, SETTING)(losses, None)
    )


def test_of_somebodys_own_terms_the_second_is_held() -> None:
    held = build([TargetRate(rate_bits=1.0, beta=0.5)], Setting(("recon", "kl"), 16, CPU))
    losses = torch.tensor([[9.0, 2 * math.log(2)]])  # a rate of 2 bits: β rises
    assert held(losses, None)[0].tolist() == pytest.approx([1.0, 0.5 * math.exp(0.1 * 0.2)])
