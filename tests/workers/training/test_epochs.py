"""What an epoch of a cohort reports, what its parts are told, and what becomes of those that fail."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import pytest
import torch

from service.contract.methods.data import Digits
from service.contract.methods.problems import Bottleneck
from service.contract.methods.weightings import Blending, Fixed, Uniform
from service.contract.study.expansion import PlannedTrial
from service.contract.study.study import Evaluation
from workers import data, weightings
from workers.training import loop
from workers.training.loop import Cohort, train

CPU = torch.device("cpu")


def sgd(cohorts: Any, name: str, rate: float, epochs: int = 3) -> Any:
    return cohorts.trial(name, Fixed(), epochs=epochs, optimizer="sgd", learning_rate=rate, batch_size=1000)


def test_the_cost_of_a_trial_does_not_change_when_another_fails(cohorts: Any) -> None:
    ticks = itertools.count(0.0, 10.0)
    trials = [sgd(cohorts, "a", 0.01), sgd(cohorts, "wild", 1e30), sgd(cohorts, "b", 0.02), sgd(cohorts, "c", 0.03)]
    reports = list(train(trials, Digits(), Evaluation(samples=1), CPU, lambda: next(ticks)))
    assert list(reports[0].failures) == ["wild"]
    assert [[r.metrics[name]["seconds"] for r in reports] for name in "ab"] == [[2.5, 5.0, 7.5]] * 2


def test_losses_and_weights_are_means_over_the_steps_of_their_epoch(cohorts: Any) -> None:
    trials = [
        cohorts.trial(name, Fixed(beta=beta), epochs=2, batch_size=500) for name, beta in (("a", 0.1), ("b", 2.0))
    ]
    cohort = Cohort(trials, data.draws(Digits(), [trials[0].seed]), CPU)
    steps = [cohort.train_epoch(epoch) for epoch in (1, 2)]
    reports = cohorts.reports(trials, every=9, samples=1)
    for report, (losses, weights) in zip(reports, steps, strict=True):
        assert losses.shape == (3, 2, 2)
        for k, name in enumerate("ab"):
            for i, term in enumerate(("pred", "info")):
                found = report.metrics[name]
                assert found[f"loss_{term}"] == pytest.approx(losses[:, k, i].mean().item(), rel=1e-5)
                assert found[f"weight_{term}"] == pytest.approx(weights[:, k, i].mean().item(), rel=1e-5)


def test_weights_that_move_are_reported_by_their_mean() -> None:
    losses, weights = torch.rand(2, 5, 3, 2, generator=torch.Generator().manual_seed(0)).unbind()  # [steps, K, n]
    columns = loop._epoch_means(losses, weights, ["pred", "info"])
    for name, values in (("loss", losses), ("weight", weights)):
        for i, term in enumerate(("pred", "info")):
            assert columns[f"{name}_{term}"] == pytest.approx(values[:, :, i].double().mean(0).tolist())


def test_a_weighting_is_told_of_steps_epochs_seeds_and_terms(cohorts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[weightings.Setting] = []
    real = weightings.build

    def spy(params: Any, setting: weightings.Setting) -> Any:
        told.append(setting)
        return real(params, setting)

    monkeypatch.setattr(weightings, "build", spy)
    trials = [cohorts.trial(str(seed), Uniform(), seed=seed, epochs=7, batch_size=500) for seed in (5, 2, 5)]
    Cohort([t._replace(problem=Bottleneck(transform="square")) for t in trials], [data.load(Digits())], CPU)
    (setting,) = told
    assert (setting.terms, setting.latent, setting.seeds) == (("pred", "info"), 8, (5, 2, 5))
    assert (setting.batches, setting.epochs) == (3, 7), "1,438 images in batches of 500"
    assert setting.raw(torch.tensor([[2.0, 9.0]])).tolist() == [[2.0, pytest.approx(3.0)]]


def test_the_end_is_told_before_the_last_report_of_those_that_came_so_far(cohorts: Any) -> None:
    seen: list[Any] = []

    def at_end(cohort: Cohort, members: Mapping[int, PlannedTrial]) -> None:
        seen.append({k: trial.id for k, trial in members.items()})

    trials = [sgd(cohorts, "wild", 1e30), sgd(cohorts, "a", 0.01), sgd(cohorts, "b", 0.01)]
    for report in train(trials, Digits(), Evaluation(samples=1), CPU, at_end=at_end):
        seen.append(report.epoch)
    assert seen == [1, 2, {1: "a", 2: "b"}, 3]
    seen.clear()
    for report in train([sgd(cohorts, "wild", 1e30, epochs=1)], Digits(), Evaluation(samples=1), CPU, at_end=at_end):
        seen.append(report.epoch)
    assert seen == [1], "nobody is left to keep"


def test_a_model_trains_while_it_trains_and_is_measured_as_it_will_be_used(
    cohorts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = cohorts.trial("a", Blending(), epochs=1, batch_size=2000)
    cohort = Cohort([trial], [data.load(Digits(validation_fraction=0.2))], CPU)
    order: list[Any] = []
    monkeypatch.setattr(cohort.model, "train", order.append)

    def noted(name: str) -> Any:
        own = getattr(cohort.problem, name)

        def call(*given: Any) -> Any:
            order.append(name)
            return own(*given)

        return call

    for name in ("losses", "mean_losses"):
        monkeypatch.setattr(cohort.problem, name, noted(name))
    cohort.train_epoch(1)
    assert order[:3] == [True, "losses", False] and order.count("mean_losses") == 2


def test_members_of_other_problems_and_nobody_at_all_are_refused(cohorts: Any) -> None:
    first = cohorts.trial("a", Fixed())
    with pytest.raises(ValueError, match="must share problem"):
        cohorts.reports([first, first._replace(problem=Bottleneck(rate="none"))])
    with pytest.raises(ValueError, match="at least one trial"):
        cohorts.reports([])


def test_a_member_that_fails_in_its_last_term_alone_fails(cohorts: Any) -> None:
    losses = torch.tensor([[1.0, 2.0], [1.0, torch.inf], [torch.nan, 1.0]])
    trial = cohorts.trial("a", Fixed(), learning_rate=0.5)
    assert loop._failure(losses, trial, ("pred", "info"), 4) == (
        "loss_info became non-finite in epoch 4, step 2 (learning rate 0.5)"
    )
    assert loop._failure(losses[:1], trial, ("pred", "info"), 4) is None
