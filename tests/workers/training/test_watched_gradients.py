"""Gradients that are watched: exact angles and lengths, the same update, and no cost where they are in hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from service.contract.methods.data import Digits
from service.contract.methods.models import Mlp
from service.contract.methods.problems import Bottleneck, Multitask, ToyProblem
from service.contract.methods.weightings import Arml, Fixed, Mib, Uniform, Uw
from service.contract.metrics.gradients import gradient_metrics
from service.contract.study.expansion import PlannedTrial
from service.contract.study.study import Evaluation, Training
from service.contract.wire.epoch_report import EpochReport
from workers import data
from workers.training.angles import Angles
from workers.training.loop import Cohort, train

CPU = torch.device("cpu")
DATA = Digits(validation_fraction=0.0, draw="shared", train_fraction=0.3)
PROBLEMS = [
    Bottleneck(),
    Bottleneck(rate="none"),
    Bottleneck(rate="nib", transform="square"),
    ToyProblem(steps=3),
    Multitask(main="class", auxiliaries=["rotation", "random-labels"]),
]


def trial(weighting: Any, name: str = "a", seed: int = 0, problem: Any = None, **training: Any) -> PlannedTrial:
    model = Mlp(widths=[12], latent=4)
    own = Training(**{"epochs": 2, "batch_size": 128, **training})
    return PlannedTrial(name, "arm", seed, {}, problem or Bottleneck(), weighting, model, own)


def reports(trials: Sequence[PlannedTrial], gradients: bool = False) -> list[EpochReport]:
    told = list(train(trials, DATA, Evaluation(gradients=gradients, samples=1, every=99), CPU))
    assert told and told[-1].final
    return told


def gram_of(*rows: Sequence[float]) -> Tensor:
    g = torch.tensor([rows], dtype=torch.float)  # [1, n, P]
    return g @ g.mT


def told(angles: Angles) -> dict[str, float]:
    return {name: values[0] for name, values in angles.report([0]).items()}


# Angles and lengths


@pytest.mark.parametrize("degrees", [0, 30, 90, 120, 180])
def test_a_known_angle_has_its_cosine_whatever_the_lengths(degrees: float) -> None:
    a = math.radians(degrees)
    angles = Angles(("pred", "info"))
    angles.add(gram_of((3, 0), (0.2 * math.cos(a), 0.2 * math.sin(a))))
    expected = {"cosine_pred_info": math.cos(a), "gradient_norm_pred": 3, "gradient_norm_info": 0.2}
    assert told(angles) == pytest.approx(expected, abs=1e-6)


def test_an_epoch_is_the_mean_over_its_batches_of_cosines_and_of_lengths() -> None:
    angles = Angles(("pred", "info"))
    angles.add(gram_of((10, 0), (10, 0)))
    angles.add(gram_of((1, 0), (0, 2)))
    expected = {"cosine_pred_info": 0.5, "gradient_norm_pred": 5.5, "gradient_norm_info": 6}
    assert told(angles) == pytest.approx(expected), "not the cosine of the sums, which the long batch would decide"
    angles.start()
    angles.add(gram_of((1, 0), (-1, 0)))
    assert told(angles)["cosine_pred_info"] == pytest.approx(-1), "of its own epoch alone"


def test_a_batch_in_which_a_gradient_vanishes_has_a_length_and_no_angle() -> None:
    angles = Angles(("pred", "info"))
    angles.add(gram_of((1, 0), (0, 0)))
    assert math.isnan(told(angles)["cosine_pred_info"])
    angles.add(gram_of((3, 0), (-4, 0)))
    expected = {"cosine_pred_info": -1, "gradient_norm_pred": 2, "gradient_norm_info": 2}
    assert told(angles) == pytest.approx(expected)


def test_of_many_terms_each_pair_with_the_main_one_is_told_and_the_mean_over_all() -> None:
    terms = tuple("abcde")
    g = torch.randn(5, 7, generator=torch.Generator().manual_seed(0))
    angles = Angles(terms)
    angles.add(gram_of(*g.tolist()))
    unit = g / g.norm(dim=1, keepdim=True)
    cosines = unit @ unit.T
    found = told(angles)
    assert list(found) == gradient_metrics(terms)
    assert [found[f"cosine_a_{b}"] for b in "bcde"] == pytest.approx(cosines[0, 1:].tolist(), abs=1e-6)
    pairs = [cosines[i, j].item() for i in range(5) for j in range(i)]
    assert found["cosine_mean"] == pytest.approx(sum(pairs) / 10, abs=1e-6)


def test_gradient_noise_as_large_as_the_gradient_halves_the_cosine() -> None:
    """cos → cos·‖G‖²/(‖G‖² + σ²P) for independent noise in many dimensions: small batches look orthogonal."""
    rng, size = torch.Generator().manual_seed(0), 20_000
    true = torch.zeros(2, size)
    true[0, 0], true[1, 0], true[1, 1] = 1.0, -0.8, 0.6
    angles = Angles(("pred", "info"))
    for _ in range(20):
        g = (true + torch.randn(2, size, generator=rng) / math.sqrt(size))[None]
        angles.add(g @ g.mT)
    assert told(angles)["cosine_pred_info"] == pytest.approx(-0.4, abs=0.01)


def test_the_toy_problem_reports_the_angle_at_its_start_exactly() -> None:
    planned = trial(Uniform(), problem=ToyProblem(front="convex", steps=1), epochs=1)
    x = Cohort([planned], [data.load(DATA)], CPU).model.encoder.flat[0].double()  # f = ‖x ∓ u‖²/4, ∇f = (x ∓ u)/2
    one, two = (x - 0.5) / 2, (x + 0.5) / 2  # u = 1/√4
    found = reports([planned], gradients=True)[0].metrics["a"]
    assert found["gradient_norm_f1"] == pytest.approx(one.norm().item(), rel=1e-5)
    assert found["gradient_norm_f2"] == pytest.approx(two.norm().item(), rel=1e-5)
    cosine = (one @ two / one.norm() / two.norm()).item()
    assert found["cosine_f1_f2"] == pytest.approx(cosine, abs=1e-5)


# Who reports them


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: f"{p.name} {getattr(p, 'rate', '')}")
def test_watched_trials_report_every_metric_of_their_gradients(problem: Any) -> None:
    found = reports([trial(Uniform(), problem=problem)], gradients=True)
    names = set(gradient_metrics(problem.terms))
    for report in found:
        assert names <= set(report.metrics["a"])
        cosines = [report.metrics["a"][name] for name in names if name.startswith("cosine")]
        assert cosines and all(c is None or math.isnan(c) or -1 <= c <= 1 for c in cosines)


def test_without_a_rate_there_is_no_information_gradient_and_no_angle() -> None:
    found = reports([trial(Uniform(), problem=Bottleneck(rate="none"))], gradients=True)[-1].metrics["a"]
    cosine = found["cosine_pred_info"]
    assert found["gradient_norm_info"] == 0 and (cosine is None or math.isnan(cosine))
    assert (found["gradient_norm_pred"] or 0) > 0


def test_unasked_only_weightings_that_compare_gradients_report_them() -> None:
    mixed = [trial(Fixed(), "fixed"), trial(Mib(), "mib")]
    metrics = reports(mixed)[0].metrics
    names = set(gradient_metrics(("pred", "info")))
    assert names <= set(metrics["mib"]) and not names & set(metrics["fixed"])
    assert names <= set(reports(mixed, gradients=True)[0].metrics["fixed"])


@pytest.mark.parametrize("gradients", [False, True])
def test_a_member_reports_the_gradients_that_it_reports_alone(gradients: bool) -> None:
    own = (Fixed(beta=0.1), Mib(), Uw(), Arml(gram="halves", gradient_average=0.5), Uniform())
    together = [trial(weighting, f"{i}-{seed}", seed) for i, weighting in enumerate(own) for seed in (0, 1)]
    found = reports(together, gradients)
    for each in together:
        for alone, cohort in zip(reports([each], gradients), found, strict=True):
            names = [name for name in gradient_metrics(("pred", "info")) if name in alone.metrics[each.id]]
            expected = {name: alone.metrics[each.id][name] for name in names}
            assert {n: cohort.metrics[each.id].get(n) for n in names} == pytest.approx(expected, rel=1e-4, abs=1e-5)
            assert set(alone.metrics[each.id]) == set(cohort.metrics[each.id])


def test_a_gradient_is_reported_as_it_is_whatever_a_weighting_makes_of_it() -> None:
    """ARML's halves and averages are its own: at the same parameters all weightings see the same gradients."""
    own = (Fixed(beta=0.1), Mib(normalize="l2"), Arml(gram="halves", gradient_average=0.9))
    found = [reports([trial(w, epochs=1, batch_size=4096)], gradients=True)[0].metrics["a"] for w in own]
    names = gradient_metrics(("pred", "info"))
    for other in found[1:]:
        assert {n: other[n] for n in names} == pytest.approx({n: found[0][n] for n in names}, rel=1e-5)


# What watching does to training


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: f"{p.name} {getattr(p, 'rate', '')}")
@pytest.mark.parametrize("weighting", [Fixed(beta=0.3), Uw()], ids=lambda w: w.name)
def test_watching_changes_no_parameter(problem: Any, weighting: Any) -> None:
    if len(problem.terms) > 2 or getattr(problem, "rate", "") == "none":
        weighting = Uniform()
    ends = []
    for watched in (False, True):
        cohort = Cohort([trial(weighting, problem=problem, optimizer="sgd")], [data.load(DATA)], CPU, watched)
        start = cohort.model.encoder.flat.clone()
        for epoch in (1, 2):
            cohort.train_epoch(epoch)
        assert not torch.equal(cohort.model.encoder.flat, start)
        ends.append((cohort.model.encoder.flat.clone(), cohort.model.head.flat.clone()))
    for unwatched, after in zip(*ends, strict=True):
        torch.testing.assert_close(after, unwatched, rtol=1e-5, atol=1e-6)


def backward_passes(monkeypatch: pytest.MonkeyPatch, weighting: Any, watched: bool) -> int:
    cohort = Cohort([trial(weighting)], [data.load(DATA)], CPU, watched)
    passes = 0
    real = torch.autograd.grad

    def counted(*given: Any, **more: Any) -> Any:
        nonlocal passes
        passes += 1
        return real(*given, **more)

    with monkeypatch.context() as patch:
        patch.setattr(torch.autograd, "grad", counted)
        cohort.train_epoch(1)
    return passes // cohort.problem.steps(cohort.split)


def test_watching_is_free_where_the_gradients_are_compared_anyway(monkeypatch: pytest.MonkeyPatch) -> None:
    assert backward_passes(monkeypatch, Mib(), False) == backward_passes(monkeypatch, Mib(), True) == 4
    assert backward_passes(monkeypatch, Fixed(), False) == 3, "one per term down to the code, and one of the encoder"
    assert backward_passes(monkeypatch, Fixed(), True) == 4, "one of the encoder per term"
