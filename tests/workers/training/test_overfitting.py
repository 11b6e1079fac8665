"""Loss gap and ratio of overfitting to generalisation: by hand, and of a cohort by its own losses."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from service.contract.methods.data import Digits
from service.contract.methods.problems import Multitask
from service.contract.methods.weightings import Fixed, Uniform
from service.contract.study.parsing import check_study
from service.contract.study.study import Evaluation
from workers import data
from workers.training import loop
from workers.training.overfitting import gap_and_ratio

CPU = torch.device("cpu")
HELD_OUT = Digits(validation_fraction=0.25)


def test_the_ratio_is_that_of_the_paper() -> None:
    """|(O(n) − O(n₀)) / (G(n) − G(n₀))| (gradient blending, eq. 1) of two terms, training over validation loss."""
    first = torch.tensor([[[2.0, 1.0]], [[2.1, 1.0]]])
    last = torch.tensor([[[0.5, 0.2]], [[1.1, 1.0]]])
    gap, ratio = gap_and_ratio(first, last)
    torch.testing.assert_close(gap, torch.tensor([[0.6, 0.8]]))
    torch.testing.assert_close(ratio[0, 0], torch.tensor(0.5))  # the gap grew from 0.1 to 0.6, while 1.0 was gained
    assert math.isinf(ratio[0, 1]), "nothing was gained: no number"


def test_what_only_overfits_has_a_larger_ratio_than_what_is_learned(cohorts: Any) -> None:
    trial = cohorts.trial("a", Uniform(), epochs=12, learning_rate=3e-3)
    trial = trial._replace(problem=Multitask(auxiliaries=["random-labels"]))
    evaluation = Evaluation(every=12, overfitting=True)
    last: Any = list(loop.train([trial], HELD_OUT, evaluation, CPU))[-1].metrics["a"]
    assert last["ogr_class"] < 0.1 < last["ogr_random-labels"]
    assert last["loss_gap_random-labels"] > 0.05 > last["loss_gap_class"]


def test_both_losses_are_of_the_weights_after_the_epoch_and_counted_from_the_untrained_ones(cohorts: Any) -> None:
    """Against the cohort's own losses of both splits, measured by hand beside its training."""
    trials = [cohorts.trial(str(seed), Fixed(beta=0.1), seed=seed, epochs=3) for seed in (3, 7)]
    evaluation = Evaluation(every=2, overfitting=True)
    reports = list(loop.train(trials, HELD_OUT, evaluation, CPU))
    cohort = loop.Cohort(trials, data.draws(HELD_OUT, [3, 7]), CPU)
    cohort.model.train(False)

    def losses() -> torch.Tensor:
        parts = [cohort.problem.mean_losses(cohort.model, cohort.split, part) for part in ("train", "validation")]
        return torch.stack([part for part in parts if part is not None])

    first = losses()
    for epoch in (1, 2, 3):
        cohort.train_epoch(epoch)
        gap, ratio = gap_and_ratio(first, losses())
        for k, trial in enumerate(trials):
            found = reports[epoch - 1].metrics[trial.id]
            for i, term in enumerate(("pred", "info")):
                if epoch == 1:
                    assert not {f"loss_gap_{term}", f"ogr_{term}"} & set(found), "where nothing else is measured"
                else:
                    assert found[f"loss_gap_{term}"] == pytest.approx(gap[k, i].item(), rel=1e-5)
                    assert found[f"ogr_{term}"] == pytest.approx(ratio[k, i].item(), rel=1e-5)


def test_one_that_goes_on_counts_from_the_untrained_weights_too(cohorts: Any) -> None:
    trials = [cohorts.trial("a", Fixed(beta=0.1), epochs=4)]
    evaluation = Evaluation(every=2, overfitting=True)
    left: list[Any] = []

    def leave(progress: Any) -> bool:
        left.append(progress)
        return bool(progress.epoch == 2)

    assert len(list(loop.train(trials, HELD_OUT, evaluation, CPU, between=leave))) == 2
    *_, last = loop.train(trials, HELD_OUT, evaluation, CPU, begun=left[-1])
    *_, whole = loop.train(trials, HELD_OUT, evaluation, CPU)
    names = [f"{family}_{term}" for family in ("loss_gap", "ogr") for term in ("pred", "info")]
    assert [last.metrics["a"][n] for n in names] == pytest.approx([whole.metrics["a"][n] for n in names], rel=1e-6)


def test_a_study_reports_them_where_they_are_asked_for() -> None:
    arms = [{"name": "a", "problem": {"name": "bottleneck"}, "weighting": {"name": "fixed"}}]
    study = check_study({"name": "s", "arms": arms, "evaluation": {"overfitting": True}})
    assert {"loss_gap_pred", "loss_gap_info", "ogr_pred", "ogr_info"} <= set(study.metrics_of(study.arms[0]))
    assert not any("ogr" in name for name in check_study({"name": "s", "arms": arms}).metrics_of(study.arms[0]))
