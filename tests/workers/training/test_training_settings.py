"""Settings of training in a cohort: each member trains as it does alone, and each setting changes something."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from service.contract.methods.weightings import Fixed, Mib
from service.contract.study.study import Training
from tests.workers.weightings.test_torchjd_weightings import metrics
from workers.training.annealing import shares

CPU = torch.device("cpu")
COHORTS: dict[str, list[dict[str, Any]]] = {
    "sgd": [
        {"momentum": 0.9},
        {"momentum": 0.5, "nesterov": True},
        {"momentum": 0.9, "schedule": "step", "decay_epochs": 1},
    ],
    "adam": [{"beta1": 0.5}, {"beta2": 0.9, "warm_up": 2}, {"beta1": 0.8, "anneal": 2}],
    "adamw": [{"weight_decay": 0.3}, {"schedule": "cosine"}, {"schedule": "exponential", "decay": 0.5}],
}


@pytest.mark.parametrize("optimizer", COHORTS)
def test_members_with_settings_of_their_own_train_as_alone(cohorts: Any, optimizer: str) -> None:
    how: dict[str, Any] = {"epochs": 3, "optimizer": optimizer, "learning_rate": 0.01, "clip": 5.0}
    own = COHORTS[optimizer]
    trials = [cohorts.trial(str(k), Fixed(beta=0.01), seed=3, **{**how, **each}) for k, each in enumerate(own)]
    together = cohorts.reports(trials)
    for trial in trials:
        for a, b in zip(cohorts.reports([trial]), together, strict=True):
            assert metrics(b, trial.id) == pytest.approx(metrics(a, trial.id), rel=1e-4, abs=1e-5)
    last = [together[-1].metrics[trial.id]["loss_pred"] for trial in trials]
    assert len(set(last)) == len(last), "settings that change nothing would show nothing"


@pytest.mark.parametrize("weighting", [Fixed(beta=0.1), Mib()])
def test_annealing_lets_the_weight_of_the_information_rise_to_what_the_weighting_says(
    cohorts: Any, weighting: Any
) -> None:
    trials = [cohorts.trial(str(a), weighting, epochs=4, learning_rate=1e-9, anneal=a) for a in (0, 3, 1)]
    reports = cohorts.reports(trials)
    assert len(reports) == 4
    for epoch, report in enumerate(reports, start=1):
        plain = report.metrics["0"]
        for anneal in (3, 1):
            annealed = report.metrics[str(anneal)]
            share = min(1, epoch / (anneal + 1))
            assert annealed["weight_info"] == pytest.approx(share * plain["weight_info"], rel=1e-3)
            assert annealed["weight_pred"] == pytest.approx(plain["weight_pred"], rel=1e-3)


def test_nothing_is_multiplied_where_nobody_anneals_any_more() -> None:
    trainings = [Training(), Training(anneal=2)]
    assert shares([Training()], 1, CPU) is None and shares(trainings, 3, CPU) is None
    risen = shares(trainings, 2, CPU)
    assert risen is not None and risen.tolist() == pytest.approx([1, 2 / 3])
