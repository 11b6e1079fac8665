"""Averaged weights: a weighted mean of the steps' weights, measured and kept while the training goes on without it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from service.contract.methods.data import Digits
from service.contract.methods.weightings import Fixed
from service.contract.study.study import Evaluation, Training
from workers.state import copy_into
from workers.training.averaging import Averages, averages_of
from workers.training.loop import Cohort, cohort_of, train

CPU = torch.device("cpu")
SMALL: dict[str, Any] = {"train_fraction": 0.1, "test_images": 60}


def steps(count: int) -> list[Tensor]:
    return [torch.randn(2, 5, generator=torch.Generator().manual_seed(s)) for s in range(count)]


def test_the_average_is_the_weighted_mean_of_all_steps_from_the_first_on() -> None:
    decay, weights = torch.tensor([0.9, 0.5]), torch.zeros(2, 5)
    averages = Averages([weights], decay)
    seen = steps(7)
    assert len(seen) == 7
    for t, step in enumerate(seen, start=1):
        weights.copy_(step)
        averages.follow()
        shares = decay[None, :] ** torch.arange(t - 1, -1, -1)[:, None]  # d^(t−s), [t, K]
        mean = (shares[..., None] * torch.stack(seen[:t])).sum(0) / shares.sum(0)[:, None]
        with averages.worn():
            torch.testing.assert_close(weights, mean)
        assert torch.equal(weights, step), "the training goes on with the last weights"


def test_a_member_without_average_wears_its_own_last_weights() -> None:
    weights = torch.zeros(2, 5)
    averages = Averages([weights], torch.tensor([0.0, 0.9]))
    for step in steps(4):
        weights.copy_(step)
        averages.follow()
    with averages.worn():
        assert torch.equal(weights[0], steps(4)[-1][0]) and not torch.equal(weights[1], steps(4)[-1][1])


def test_the_last_weights_come_back_from_a_measurement_that_fails() -> None:
    weights = torch.ones(2, 5)
    averages = Averages([weights], torch.tensor([0.9, 0.9]))
    averages.follow()
    weights.zero_()
    with pytest.raises(RuntimeError), averages.worn():
        raise RuntimeError
    assert not weights.any()


def test_nothing_is_kept_where_nobody_is_averaged() -> None:
    assert averages_of([Training(), Training()], [torch.zeros(2, 3)]) is None


def test_a_member_is_measured_with_the_weights_that_it_keeps_and_trains_as_without(cohorts: Any) -> None:
    how: dict[str, Any] = {"seed": 3, "epochs": 3, "learning_rate": 0.02}
    trials = [cohorts.trial(str(d), Fixed(beta=0.01), **how, average=d) for d in (0.0, 0.95)]
    kept: list[dict[str, Tensor]] = []

    def at_end(cohort: Cohort, alive: Any) -> None:
        kept.append({name: tensor[1:].clone() for name, tensor in cohort.model.named().items()})

    data, evaluation = Digits(**SMALL), Evaluation()
    last = list(train(trials, data, evaluation, CPU, at_end=at_end))[-1].metrics
    assert last["0.95"]["loss_pred"] == pytest.approx(last["0.0"]["loss_pred"], rel=1e-5), "the same steps"
    assert last["0.95"]["i_zy_bits"] != last["0.0"]["i_zy_bits"]
    alone = cohort_of(trials[1:], data, CPU, False, None)
    copy_into(alone.model.named(), kept[0], "model")
    measured = alone.evaluate(evaluation, 3, True)
    assert measured["i_zy_bits"] == pytest.approx([last["0.95"]["i_zy_bits"]], rel=1e-6)
