"""A cohort whose seeds draw their own examples: each member trains and is measured as it would alone."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from service.contract.study.expansion import expand
from service.contract.study.parsing import check_study
from service.contract.wire.events import Metrics
from workers.training.loop import train

BOTTLENECK = [
    {"name": "β", "weighting": {"name": "fixed", "beta": 0.01}},
    {"name": "nib", "problem": {"name": "bottleneck", "rate": "nib"}, "weighting": {"name": "fixed", "beta": 0.01}},
]
TASKS = [
    {
        "name": "tasks",
        "problem": {"name": "multitask", "main": "left", "auxiliaries": ["right", "rotation", "random-labels"]},
        "weighting": {"name": "uniform"},
    }
]


def trained(size: int, **spec: Any) -> dict[tuple[str, int], Metrics]:
    """The last metrics of each trial, by arm and seed, in cohorts of this size."""
    whole = {"training": {"epochs": 2, "batch_size": 64}, "model": {"name": "mlp", "widths": [12], "latent": 4}, **spec}
    study = check_study({"name": "s", "seeds": [3, 4, 9], **whole})
    metrics: dict[tuple[str, int], Metrics] = {}
    for arm in study.arms:
        own = [trial for trial in expand(study) if trial.arm == arm.name]
        for start in range(0, len(own), size):
            cohort: Any = own[start : start + size]
            *_, last = train(cohort, study.data, study.evaluation, torch.device("cpu"))
            metrics |= {(arm.name, trial.seed): last.metrics[trial.id] for trial in cohort}
    return metrics


@pytest.mark.parametrize(
    ("data", "arms", "evaluation"),
    [
        ({"name": "digits", "train_fraction": 0.3, "label_noise": 0.1}, BOTTLENECK, {"attacks": [{"name": "pgd"}]}),
        ({"name": "gaussian", "train_samples": 300, "test_samples": 200}, BOTTLENECK[:1], {"estimators": ["ksg"]}),
        ({"name": "overlaid", "pairs": 200, "test_pairs": 60, "labels": 40}, TASKS, {}),
    ],
    ids=["digits", "gaussian", "overlaid"],
)
def test_a_member_with_a_draw_of_its_own_does_what_it_does_alone(data: Any, arms: Any, evaluation: Any) -> None:
    spec = {"data": {**data, "validation_fraction": 0.2, "draw": "per-seed"}, "arms": arms, "evaluation": evaluation}
    together, alone = trained(3, **spec), trained(1, **spec)
    assert together.keys() == alone.keys()
    for member, metrics in together.items():
        assert metrics.keys() == alone[member].keys()
        for name in metrics.keys() - {"seconds"}:
            same = alone[member][name]
            assert metrics[name] == (None if same is None else pytest.approx(same, rel=1e-3, abs=1e-3)), (member, name)


def test_everything_measured_is_measured_on_the_validation_split_too() -> None:
    data = {"name": "digits", "train_fraction": 0.3, "validation_fraction": 0.2, "draw": "per-seed"}
    evaluation = {"attacks": [{"name": "fgsm"}], "estimators": ["infonce"]}
    study = check_study({"name": "s", "data": data, "arms": BOTTLENECK[:1], "evaluation": evaluation})
    (metrics,) = (
        m for (_, seed), m in trained(1, data=data, arms=BOTTLENECK[:1], evaluation=evaluation).items() if seed == 3
    )
    assert set(metrics) == set(study.metrics)
    twins = [name for name in metrics if name.startswith("validation_")]
    assert len(twins) == 12 and metrics["validation_test_examples"] == 86
    assert all(
        metrics[name] != metrics[name.removeprefix("validation_")]
        for name in ("validation_i_zy_bits", "validation_accuracy")
    )


def test_without_a_held_out_split_nothing_is_said_of_one() -> None:
    data = {"name": "digits", "train_fraction": 0.3, "validation_fraction": 0}
    (first, *_) = trained(3, data=data, arms=BOTTLENECK[:1]).values()
    assert not [name for name in first if name.startswith("validation_")]


def test_seeds_that_share_a_draw_differ_by_their_own_random_numbers_alone() -> None:
    arms, data = BOTTLENECK[:1], {"name": "digits", "train_fraction": 0.3, "label_noise": 0.3}
    shared, own = (trained(3, data={**data, "draw": draw}, arms=arms) for draw in ("shared", "per-seed"))
    assert all(shared[member] != own[member] for member in shared)
