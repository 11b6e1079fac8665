"""A cohort is many trainings that do not feel each other."""

from __future__ import annotations

import dataclasses
import itertools
import re
import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from service.contract.methods.attacks import Fgsm
from service.contract.methods.balance import Balance
from service.contract.methods.data import Digits
from service.contract.methods.models import Mlp
from service.contract.methods.problems import Bottleneck, Multitask
from service.contract.methods.weightings import Blending, Fixed, Mib
from service.contract.metrics import BOTTLENECK_METRICS, CALIBRATIONS, COMMON_METRICS, I_XZ
from service.contract.metrics.gradients import gradient_metrics
from service.contract.study.study import Evaluation
from workers import problems
from workers.data import DataSet, load
from workers.data.random_streams import Seeds
from workers.data.split import Split
from workers.problems import PartName
from workers.training.loop import Cohort, train

METRICS = {*COMMON_METRICS, *BOTTLENECK_METRICS}
HELD_OUT = {f"validation_{name}" for name, row in BOTTLENECK_METRICS.items() if row.measured}
CALIBRATED = {family.of(I_XZ) for family in CALIBRATIONS}
EVALUATED = set(BOTTLENECK_METRICS) - {"loss_pred", "loss_info", "weight_pred", "weight_info"}
WEIGHTINGS = [
    Fixed(beta=0.0),
    Fixed(beta=0.03),
    Mib(),
    Mib(normalize="l2", smoothing=False),
    Mib(normalize="none", info_scale="sum", power=1),
    Mib(normalize="loss+", info_scale=0.01, mu=1.0),
    Mib(automatic=False),
    Mib(solver="frank-wolfe"),
]


def test_each_of_16_mixed_members_equals_training_it_alone(cohorts: Any) -> None:
    rates = itertools.cycle([1e-3, 2e-3, 5e-4])
    trials = [
        cohorts.trial(f"{i}-{seed}", weighting, seed=seed, epochs=3, learning_rate=next(rates))
        for i, weighting in enumerate(WEIGHTINGS)
        for seed in (3, 7)
    ]
    together = cohorts.reports(trials)
    assert len(together) == 3 and len(trials) == 16
    for trial in trials:
        alone = cohorts.reports([trial])
        for a, b in zip(alone, together, strict=True):
            expected = {m: v for m, v in a.metrics[trial.id].items() if m != "seconds"}
            found = {m: v for m, v in b.metrics[trial.id].items() if m != "seconds"}
            assert found == pytest.approx(expected, rel=1e-5, abs=1e-6), trial.id


def test_members_with_different_seeds_differ(cohorts: Any) -> None:
    report = cohorts.reports([cohorts.trial(str(s), Fixed(), seed=s, epochs=1) for s in (0, 1)])[-1]
    assert report.metrics["0"]["loss_pred"] != report.metrics["1"]["loss_pred"]


@pytest.mark.parametrize("neighbour", [Fixed(beta=0.01), Mib()])
def test_a_diverging_member_fails_alone(cohorts: Any, neighbour: Fixed | Mib) -> None:
    def sgd(name: str, rate: float) -> Any:
        return cohorts.trial(name, neighbour, epochs=3, optimizer="sgd", learning_rate=rate)

    wild = cohorts.reports([sgd("a", 0.05), sgd("wild", 1e8), sgd("b", 0.02)])
    tame = cohorts.reports([sgd("a", 0.05), sgd("wild", 0.01), sgd("b", 0.02)])
    without = cohorts.reports([sgd("a", 0.05), sgd("b", 0.02)])
    failures = [(r.epoch, why) for r in wild for why in r.failures.values()]
    assert len(failures) == 1
    pattern = r"loss_(pred|info) became non-finite in epoch (\d), step \d+ \(learning rate 100000000\)"
    match = re.fullmatch(pattern, failures[0][1])
    assert match and int(match[2]) == failures[0][0]
    for w, t, o in zip(wild, tame, without, strict=True):
        assert "wild" not in w.metrics or w.epoch < failures[0][0]
        for name in "ab":
            found, beside_tame, alone = (
                {k: v for k, v in r.metrics[name].items() if k != "seconds"} for r in (w, t, o)
            )
            assert found == beside_tame
            assert found == pytest.approx(alone, rel=1e-5, abs=1e-6)


def test_a_failure_names_term_epoch_and_step_counted_from_one(cohorts: Any) -> None:
    """A step so large that the second batch overflows."""
    trial = cohorts.trial("wild", Fixed(), epochs=2, optimizer="sgd", learning_rate=1e30, batch_size=1000)
    why = cohorts.reports([trial])[0].failures["wild"]
    assert why == "loss_pred became non-finite in epoch 1, step 2 (learning rate 1e30)"


def test_a_metric_that_is_no_number_becomes_none(cohorts: Any) -> None:
    """One step per epoch: its loss is finite, the model it leaves behind is not."""
    trial = cohorts.trial("wild", Fixed(), epochs=1, optimizer="sgd", learning_rate=1e30, batch_size=2000)
    metrics = cohorts.reports([trial])[0].metrics["wild"]
    assert metrics["i_xz_bits"] is None and metrics["i_zy_bits"] is None
    assert metrics["loss_pred"] is not None


def told(trial: Any, monkeypatch: pytest.MonkeyPatch, data: DataSet) -> tuple[Tensor, Tensor, Cohort]:
    """What a weighting hears after an epoch: losses on training examples, on validation, and the trained cohort."""
    cohort = Cohort([trial], [data], torch.device("cpu"))
    heard: list[tuple[Tensor, Tensor]] = []
    monkeypatch.setattr(cohort.weighting, "after_epoch", lambda *losses: heard.append(losses))
    cohort.train_epoch(1)
    ((training, validation),) = heard
    return training, validation, cohort


def twins() -> DataSet:
    """Digits whose validation split are the very training images that it is compared with."""
    data = load(Digits(validation_fraction=0.2))
    assert data.x_validation is not None
    seen = Split([data], Seeds([0], torch.device("cpu")), 100).some_training(len(data.x_validation))
    return dataclasses.replace(data, x_validation=data.x_train.some(seen), y_validation=data.y_train[seen])


@pytest.mark.parametrize("rate", ["vib", "nib"])
@pytest.mark.parametrize("transform", ["identity", "square"])
def test_a_weighting_hears_one_quantity_of_one_model_on_both_splits(
    cohorts: Any, monkeypatch: pytest.MonkeyPatch, rate: Any, transform: Any
) -> None:
    """On the same images nothing is left between training and validation but the latent noise, which only pred has."""
    problem = Bottleneck(rate=rate, transform=transform)
    trial = cohorts.trial("a", Blending(), batch_size=100)._replace(problem=problem)
    training, validation, _ = told(trial, monkeypatch, twins())
    assert float(training[0, 1]) == pytest.approx(float(validation[0, 1]), rel=1e-6)
    assert float(training[0, 0]) == pytest.approx(float(validation[0, 0]), rel=0.1)


def test_a_weighting_is_told_of_losses_before_their_transform(cohorts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    trial = cohorts.trial("a", Blending(), batch_size=500)._replace(problem=Bottleneck(transform="square"))
    data = load(Digits(validation_fraction=0.2))
    *heard, cohort = told(trial, monkeypatch, data)
    plain = problems.build(Bottleneck(), trial.model.latent)
    parts: tuple[PartName, PartName] = ("train", "validation")
    for losses, part in zip(heard, parts, strict=True):
        expected = plain.mean_losses(cohort.model, cohort.split, part)
        torch.testing.assert_close(losses, expected, rtol=1e-5, atol=0)


def test_a_task_is_compared_on_the_training_images_that_have_its_label(
    cohorts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = load(Digits(validation_fraction=0.2, labels=40))
    trial = cohorts.trial("a", Blending(), batch_size=100)._replace(problem=Multitask(auxiliaries=["rotation"]))
    training, _, cohort = told(trial, monkeypatch, data)
    assert data.labelled is not None and int(data.labelled.sum()) == 40
    (code,) = cohort.model.encode(data.x_train[data.labelled][None])
    expected = functional.cross_entropy(cohort.model.decode(code.relu())[0], data.y_train[data.labelled])
    assert float(training[0, 0]) == pytest.approx(expected.item(), rel=1e-5)


def test_every_epoch_averages_latent_samples(cohorts: Any) -> None:
    trial = cohorts.trial("a", Fixed(beta=0.1), epochs=2)
    one, many = ([r.metrics["a"]["i_zy_bits"] for r in cohorts.reports([trial], samples=s)] for s in (1, 12))
    assert one[0] != many[0] and one[1] != many[1]
    assert one == pytest.approx(many, abs=0.1)


@pytest.mark.parametrize("rate", ["vib", "nib"])
def test_the_last_epoch_is_measured_as_every_other(cohorts: Any, rate: Any) -> None:
    """Of the same weights, with as many samples of the code: else curves would jump where they end."""
    trial = cohorts.trial("a", Fixed(beta=0.1), batch_size=500)._replace(problem=Bottleneck(rate=rate))
    cohort = Cohort([trial], [load(Digits(validation_fraction=0.2))], torch.device("cpu"))
    cohort.train_epoch(1)
    asked = Evaluation(estimators=["pairwise-upper"], attacks=[Fgsm()], attack_every=1)
    between, last = (cohort.evaluate(asked, 1, last) for last in (False, True))
    assert {"i_xz_bits", "i_zy_bits", "accuracy", "validation_i_zy_bits", "train_accuracy"} < between.keys()
    assert {name: last[name] for name in between} == between


def test_training_stops_when_all_members_have_failed(cohorts: Any) -> None:
    trial = cohorts.trial("wild", Fixed(), epochs=50, optimizer="sgd", learning_rate=1e8)
    reports = cohorts.reports([trial])
    assert len(reports) < 50
    assert [bool(r.failures) for r in reports] == [r.final for r in reports]
    assert reports[-1].final and not reports[-1].metrics


def test_metrics_are_those_of_the_contract_and_evaluated_when_asked(cohorts: Any) -> None:
    trials = [cohorts.trial("a", Fixed(), epochs=5), cohorts.trial("b", Mib(), epochs=5)]
    reports = cohorts.reports(trials, every=2)
    assert [r.epoch for r in reports] == [1, 2, 3, 4, 5]
    assert [r.final for r in reports] == [False] * 4 + [True]
    counted = [metrics["epoch"] for r in reports for metrics in r.metrics.values()]
    assert counted == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5] and {type(epoch) for epoch in counted} == {int}
    assert type(reports[-1].metrics["a"]["test_examples"]) is int
    for r in reports:
        expected = METRICS | HELD_OUT if r.epoch in (2, 4, 5) else METRICS - EVALUATED
        expected = expected | CALIBRATED if r.final else expected
        assert set(r.metrics["a"]) == expected
        assert set(r.metrics["b"]) == expected | set(gradient_metrics(("pred", "info"))), "which it compares anyway"
    assert reports[0].metrics["a"]["weight_info"] == pytest.approx(1e-2)


def test_seconds_count_training_alone_and_are_shared_by_the_members(cohorts: Any) -> None:
    ticks = itertools.count(0.0, 10.0)
    trials = [cohorts.trial(name, Fixed(), epochs=3) for name in "abcd"]
    reports = train(trials, Digits(), Evaluation(), torch.device("cpu"), lambda: next(ticks))
    assert [r.metrics["a"]["seconds"] for r in reports] == [2.5, 5.0, 7.5]


def test_a_cohort_of_different_shapes_is_refused(cohorts: Any) -> None:
    first = cohorts.trial("a", Fixed())
    for other, what in (
        (first._replace(model=Mlp(latent=4)), "model"),
        (cohorts.trial("b", Fixed(), epochs=7), r"training\.epochs"),
        (cohorts.trial("b", Fixed(), batch_size=7), r"training\.batch_size"),
        (cohorts.trial("b", Fixed(), optimizer="sgd"), r"training\.optimizer"),
        (cohorts.trial("b", Fixed(), balance=Balance()), r"training\.balance"),
        (cohorts.trial("b", Fixed(), feedback="dfa"), r"training\.feedback"),
    ):
        with pytest.raises(ValueError, match=f"must share {what}"):
            cohorts.reports([first, other])


HOT_PATH = """
import sys, torch
from service.contract.study.expansion import expand
from service.contract.study.study import Study
from workers.training.loop import train
study = Study.model_validate({"name": "s", "training": {"epochs": 1},
    "arms": [{"name": "a", "weighting": {"name": "fixed"}}, {"name": "b", "weighting": {"name": "mib"}}]})
assert len(list(train(expand(study), study.data, study.evaluation, torch.device("cpu")))) == 1
print([m for m in ("sklearn", "torchvision", "ray", "fastapi", "torch._dynamo", "scipy") if m in sys.modules])
"""


def test_a_training_loads_no_slow_package() -> None:
    done = subprocess.run([sys.executable, "-c", HOT_PATH], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr


def test_more_compression_gives_fewer_bits_and_the_best_beta_is_accurate(cohorts: Any) -> None:
    betas = [1e-3, 1e-2, 3e-2, 1e-1, 1.0]
    trials = [
        cohorts.trial(f"{b}-{s}", Fixed(beta=b), seed=s, epochs=60)._replace(model=Mlp()) for b in betas for s in (0, 1)
    ]
    final = cohorts.reports(trials, every=60)[-1].metrics

    def mean(beta: float, metric: str) -> float:
        return float(sum(final[f"{beta}-{s}"][metric] for s in (0, 1)) / 2)

    bits = [mean(b, "i_xz_bits") for b in betas]
    assert all(more > 1.2 * less for more, less in itertools.pairwise(bits))
    assert mean(1.0, "i_zy_bits") < 0.2
    assert mean(1e-2, "kl_prior_bits") == pytest.approx(23.5, rel=0.1)
    assert mean(1e-2, "i_zy_bits") == pytest.approx(3.04, abs=0.06)
    assert max(mean(b, "accuracy") for b in betas) > 0.94
