"""The best epoch by validation: its weights are what the last report is measured with, and what is kept."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from service.contract.methods.data import Digits
from service.contract.methods.weightings import Fixed
from service.contract.study.expansion import PlannedTrial
from service.contract.study.study import Evaluation
from service.contract.wire.epoch_report import EpochReport
from workers.state import copy_into
from workers.training.best_epoch import BestEpoch
from workers.training.loop import Cohort, cohort_of, train

CPU = torch.device("cpu")
DATA = Digits(train_fraction=0.1, test_images=60)
EPOCHS = 6


def trials(cohorts: Any, best: str | None = "accuracy", **training: Any) -> list[PlannedTrial]:
    """One that learns slowly, and two whose steps are so long that their last epoch is not their best."""
    rates = {"slow": 0.003, "fast": 0.15, "other": 0.15}
    return [
        cohorts.trial(name, Fixed(beta=0.01), seed=k, epochs=EPOCHS, learning_rate=rate, best=best, **training)
        for k, (name, rate) in enumerate(rates.items())
    ]


def trained(members: list[PlannedTrial], **more: Any) -> list[EpochReport]:
    return list(train(members, DATA, Evaluation(), CPU, **more))


def test_the_last_report_is_of_the_epoch_that_was_best_on_the_validation_split(cohorts: Any) -> None:
    plain, kept = trained(trials(cohorts, best=None)), trained(trials(cohorts))
    chosen = []
    for name in ("slow", "fast", "other"):
        held = [float(report.metrics[name]["validation_accuracy"] or 0) for report in plain]
        best = held.index(max(held))
        last = kept[-1].metrics[name]
        assert last["best_epoch"] == best + 1
        for metric in ("accuracy", "validation_accuracy", "i_zy_bits"):
            assert last[metric] == pytest.approx(plain[best].metrics[name][metric], rel=1e-5), (name, metric)
        assert last["loss_pred"] == pytest.approx(plain[-1].metrics[name]["loss_pred"], rel=1e-5), "the same training"
        chosen.append(best)
    assert min(chosen) < EPOCHS - 1
    assert all("best_epoch" not in report.metrics["slow"] for report in kept[:-1])


def test_its_weights_are_what_is_kept_and_the_training_goes_on_from_the_last(cohorts: Any) -> None:
    members, kept, states = trials(cohorts), list[dict[str, Tensor]](), list[dict[str, Tensor]]()

    def at_end(cohort: Cohort, alive: Any) -> None:
        kept.append({name: tensor.clone() for name, tensor in cohort.model.named().items()})

    def at_last(progress: Any, report: EpochReport) -> None:
        states.append({name: tensor.clone() for name, tensor in progress.state().items()})

    last = trained(members, at_end=at_end, at_last=at_last)[-1].metrics
    cohort = cohort_of(members, DATA, CPU, False, None)
    copy_into(cohort.model.named(), kept[0], "model")
    assert cohort.evaluate(Evaluation(), EPOCHS, True)["i_zy_bits"] == pytest.approx(
        [last[trial.id]["i_zy_bits"] for trial in members], rel=1e-6
    )
    straight = trained(trials(cohorts, best=None), at_last=at_last)
    assert straight
    for name, tensor in states[1].items():
        if name.startswith("model."):
            torch.testing.assert_close(states[0][name], tensor)


def test_a_smaller_value_is_better_where_the_metric_says_so_and_none_never(cohorts: Any) -> None:
    weights = {"w": torch.zeros(3, 1)}
    best = BestEpoch(trials(cohorts), "i_xz_bits", weights)
    for epoch, values in enumerate([[3.0, 1.0, torch.nan], [2.0, 1.0, torch.nan], [2.5, 2.0, torch.nan]], start=1):
        weights["w"].fill_(float(epoch))
        best.follow(epoch, {"validation_i_xz_bits": values})
    assert best.epochs == [2, 1, 0], "the first of several, and none of a member without numbers"
    best.follow(4, {"accuracy": [1.0, 1.0, 1.0]})
    with best.worn():
        assert weights["w"].flatten().tolist() == [2.0, 1.0, 3.0]
    assert weights["w"].flatten().tolist() == [3.0, 3.0, 3.0]
