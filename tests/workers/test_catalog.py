"""Every name in the catalog trains, alone and in a cohort, and learns where it should.

Weightings are in test_torchjd_weightings.py, searches in test_search.py and tests/end_to_end.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from service.answers.presets import presets
from service.contract.catalog import catalog
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from service.contract.wire.errors import NotFound
from service.contract.wire.events import Metrics
from tests.planned import planned
from tests.workers import stand_ins
from tests.workers.data.test_image_data import cifar_binaries, idx_files, made, put
from workers import data
from workers.planning.cohorts import plan
from workers.training.loop import train

CPU = torch.device("cpu")
NAMES = {kind: [entry.name for entry in getattr(catalog([]), kind)] for kind in ("data", "models", "rates", "attacks")}
BETAS = {"grid": [0.001, 0.003]}


def study(**parts: Any) -> Study:
    """A small bottleneck on digits, two βs."""
    arm = {"name": "a", "weighting": {"name": "fixed", "beta": BETAS}, **parts.pop("arm", {})}
    base: dict[str, Any] = {"name": "s", "arms": [arm], "training": {"epochs": 1}, "evaluation": {"samples": 2}}
    base["model"] = {"name": "mlp", "widths": [32], "latent": 8}
    return check_study({**base, **parts})


def trained(study: Study, size: int | None = None) -> list[Metrics]:
    """Last metrics of every trial, in cohorts of at most `size`."""
    found: dict[str, Metrics] = {}
    for cohort in plan(planned(study), slots=1, size=size):
        *_, last = train(cohort, study.data, study.evaluation, CPU)
        assert not last.failures
        found |= last.metrics
    assert found
    return [found[trial.id] for trial in planned(study)]


def alone_as_in_a_cohort(study: Study) -> list[Metrics]:
    together, alone = trained(study), trained(study, size=1)
    for ours, own in zip(together, alone, strict=True):
        for name in set(own) - {"seconds"}:
            expected = own[name]
            assert ours[name] == (expected if expected is None else pytest.approx(expected, rel=1e-3, abs=1e-3)), name
    return together


@pytest.mark.parametrize("name", NAMES["models"])
def test_every_model_trains(name: str) -> None:
    small: dict[str, dict[str, Any]] = {"resnet18": {"small_images": True}, "cnn": {"channels": [8, 16]}}
    spec = study(
        model={"name": name, "latent": 5, **small.get(name, {})}, data={"name": "digits", "train_fraction": 0.2}
    )
    alone_as_in_a_cohort(spec)


@pytest.mark.parametrize("name", NAMES["rates"])
def test_every_rate_learns(name: str) -> None:
    spec = study(arm={"problem": {"name": "bottleneck", "rate": name}}, training={"epochs": 35})
    assert all((m["accuracy"] or 0) > 0.85 for m in trained(spec))
    alone_as_in_a_cohort(study(arm={"problem": {"name": "bottleneck", "rate": name}}))


@pytest.mark.parametrize("name", ["identity", "square", "power", "exp", "shifted-exp"])
def test_every_transform_trains(name: str) -> None:
    alone_as_in_a_cohort(study(arm={"problem": {"name": "bottleneck", "transform": name}}))


@pytest.mark.parametrize("front", ["convex", "concave"])
def test_every_toy_problem_trains(front: str) -> None:
    metrics = alone_as_in_a_cohort(study(arm={"problem": {"name": "toy", "front": front}}))
    assert len(metrics) == 2 and all(m["f1"] is not None and 0 <= m["f1"] <= 2 for m in metrics)


@pytest.mark.parametrize("name", NAMES["data"])
def test_every_data_set_trains(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data sets that are not here are stood in for by small files of their format."""
    monkeypatch.setenv("PARETOSCOPE_DATA", str(tmp_path))
    put(tmp_path / "MNIST/raw", idx_files(made(shape=(1, 28, 28))))
    put(tmp_path / "FashionMNIST/raw", idx_files(made(shape=(1, 28, 28))))
    put(tmp_path / "cifar-10-batches-bin", cifar_binaries(made(200, 50, (3, 32, 32))))
    less: dict[str, dict[str, Any]] = {"gaussian": {"train_samples": 500, "test_samples": 100}}
    less |= {"toy": {"train_samples": 500}, **stand_ins.put_all(tmp_path)}
    alone_as_in_a_cohort(study(data={"name": name, **less.get(name, {"train_fraction": 0.2, "test_images": 50})}))


@pytest.mark.parametrize("name", NAMES["attacks"])
def test_every_attack_takes_most_of_what_training_gave(name: str) -> None:
    spec = study(
        data={"name": "digits", "train_fraction": 0.2},
        training={"epochs": 10, "batch_size": 32, "learning_rate": 0.01},
        evaluation={"every": 10, "samples": 2, "attacks": [{"name": name, "epsilon": 0.3}], "attack_images": 100},
    )
    metrics = alone_as_in_a_cohort(spec)
    assert [each["robust_images"] for each in metrics] == [100, 100]
    for clean, robust in ((each["accuracy"], each[f"robust_{name}"]) for each in metrics):
        assert clean is not None and clean > 0.8
        assert robust is not None and 0 <= robust < 0.5


def test_every_estimator_runs_after_training() -> None:
    always = ("marginal-kl", "prior-kl", "cross-entropy")
    names = [e.name for e in catalog([]).estimators if e.name not in always]
    spec = study(
        data={"name": "gaussian", "train_samples": 200, "test_samples": 100},
        model={"name": "mlp", "widths": [8], "latent": 3},
        evaluation={"samples": 2, "estimators": names, "estimator_samples": 60},
    )
    for metrics in alone_as_in_a_cohort(spec):
        assert all(metrics[f"i_xz_{name}_bits"] is not None for name in names)
        assert metrics["estimator_samples"] == 60


def test_fashion_mnist_is_learned_at_the_best_beta() -> None:
    """The preset's six βs and MIB, one seed: 9,600 images, 5 epochs."""
    preset = next(p for p in presets() if p.name == "beta-vs-mib-fashion")
    whole: dict[str, Any] = dict(preset.spec)
    spec = check_study({**whole, "seeds": [0], "arms": whole["arms"][:2], "evaluation": {"every": 5}})
    try:
        loaded = data.load(spec.data)
    except NotFound as error:
        pytest.skip(error.message)
    assert len(loaded.x_train) == 9_600
    accuracy: dict[str, list[float]] = {arm.name: [] for arm in spec.arms}
    for trial, metrics in zip(planned(spec), trained(spec), strict=True):
        accuracy[trial.arm].append(metrics["accuracy"] or 0)
    assert len(accuracy["manual β"]) == 6 and max(accuracy["manual β"]) > 0.8
    assert accuracy["MIB"][0] > 0.5
