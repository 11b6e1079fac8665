"""A network that is taken home predicts what was reported: its accuracy on the test split is the same to 1e-6."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from service.contract.methods.data import Gaussian
from service.contract.methods.task_data import Text
from tests.workers.stand_ins import put_texts
from tests.workers.trained.home import MLP, MULTITASK, Left, accuracy, held_out, trained
from workers import data as datasets
from workers.trained import Bottleneck, load

SAME = pytest.approx  # to 1e-6, of numbers up to 1
CNN = {"name": "cnn", "channels": [4, 6], "widths": [12], "latent": 4}


@pytest.fixture(scope="module", params=["mlp", "cnn"])
def every_beta(request: pytest.FixtureRequest) -> Left:
    model = {"mlp": MLP, "cnn": CNN}[request.param]
    return trained({"name": "conditional", "points": 10}, model=model, seeds=[0, 1])


def test_ten_betas_have_the_accuracy_that_was_reported(every_beta: Left) -> None:
    images, y = held_out()
    assert every_beta.checkpoints
    for trial, content in every_beta.checkpoints.items():
        points = every_beta.report.points[trial]
        assert len(points) == 10
        for point in points:
            model = load(content, beta=point["where"]["beta"])
            assert accuracy(model.predict(images), y) == SAME(point["metrics"]["accuracy"], abs=1e-6), point["where"]
        assert len({point["metrics"]["accuracy"] for point in points}) > 3, "β matters"


def test_beta_may_be_an_argument(every_beta: Left) -> None:
    (images, _), content = held_out(), next(iter(every_beta.checkpoints.values()))
    free, fixed = load(content), load(content, beta=0.02)
    for call in ("__call__", "predict"):
        expected = getattr(fixed, call)(images)
        torch.testing.assert_close(getattr(free, call)(images, beta=0.02), expected, rtol=0, atol=0)
        torch.testing.assert_close(getattr(fixed, call)(images, beta=1.0), getattr(free, call)(images, beta=1.0))
        assert not torch.allclose(getattr(free, call)(images, beta=1.0), expected)
    torch.testing.assert_close(free.encode(images, beta=0.02).mean, fixed.encode(images).mean)


FIXED = {"name": "fixed", "beta": 0.001}
ORDINARY: dict[str, dict[str, Any]] = {
    "mlp": {},
    "mib": {"weighting": {"name": "mib"}, "evaluation": {"samples": 5}},
    "nib": {"problem": {"name": "bottleneck", "rate": "nib"}},
    "no rate": {"problem": {"name": "bottleneck", "rate": "none"}, "weighting": {"name": "uniform"}},
    "cnn": {"model": CNN},
    "deep head": {"model": {**MLP, "widths": [], "head": [6, 5], "activation": "linear"}},
    "rnn": {"model": {"name": "rnn", "embedding": 6, "hidden": [8, 7], "latent": 4}},
    "transformer": {"model": {"name": "transformer", "width": 8, "heads": 2, "layers": 2, "latent": 4}},
    "resnet18": {
        "model": {"name": "resnet18", "latent": 4},
        "data": {"name": "digits", "train_fraction": 0.04, "test_images": 60},
        "training": {"epochs": 1, "batch_size": 32},
    },
}


@pytest.mark.parametrize("case", ORDINARY)
def test_an_ordinary_trial_has_the_accuracy_that_was_reported(case: str) -> None:
    left = trained(**{"weighting": FIXED, **ORDINARY[case]})
    (content,), (metrics,) = left.checkpoints.values(), left.report.metrics.values()
    images, y = held_out(test_images=60 if case == "resnet18" else None)
    model = load(content)
    assert isinstance(model, Bottleneck)
    assert accuracy(model.predict(images), y) == SAME(metrics["accuracy"], abs=1e-6)
    torch.testing.assert_close(model.predict(images.flatten(1)), model.predict(images), rtol=0, atol=0)


def test_texts_are_numbers_of_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_texts(tmp_path / "reviews.csv")
    monkeypatch.setenv("PARETOSCOPE_DATA", str(tmp_path))
    spec = {"name": "text", "path": "reviews.csv", "length": 8}
    left = trained(FIXED, data=spec, model={"name": "rnn", "latent": 4}, training={"epochs": 1, "batch_size": 8})
    (content,), (metrics,) = left.checkpoints.values(), left.report.metrics.values()
    texts = datasets.load(Text(path="reviews.csv", length=8))
    words = texts.x_test[:].long()
    assert words.shape[1] == 8
    assert accuracy(load(content).predict(words), texts.y_test) == SAME(metrics["accuracy"], abs=1e-6)
    with pytest.raises(ValueError, match=r"inputs must be \[N, 8\], got \[3, 9\]"):
        load(content)(torch.ones(3, 9))


def test_labels_that_are_vectors_have_a_mean_and_a_variance() -> None:
    spec = {"name": "gaussian", "correlations": [0.95, 0.9], "train_samples": 2000, "test_samples": 500}
    left = trained(FIXED, data=spec, training={"epochs": 3, "batch_size": 64, "learning_rate": 0.01})
    (content,) = left.checkpoints.values()
    data = datasets.load(Gaussian(correlations=[0.95, 0.9], train_samples=2000, test_samples=500))
    for outputs in (load(content)(data.x_test[:]), load(content).predict(data.x_test[:])):
        mean, log_variance = outputs.chunk(2, -1)
        assert torch.corrcoef(torch.stack([mean[:, 0], data.y_test[:, 0]]))[0, 1] > 0.8
        assert (log_variance < 0).all() and torch.allclose(log_variance, log_variance[:1])


def test_every_task_has_the_accuracy_that_was_reported() -> None:
    left = trained({"name": "uniform"}, MULTITASK)
    (content,), (metrics,) = left.checkpoints.values(), left.report.metrics.values()
    images, y = held_out()
    model = load(content)
    assert {task: list(outputs.shape[1:]) for task, outputs in model(images).items()} == {
        "class": [10],
        "rotation": [4],
        "reconstruction": [64],
    }
    assert accuracy(model.predict(images)["class"], y) == SAME(metrics["accuracy"], abs=1e-6)
    turned = torch.cat([torch.rot90(images, turns, (2, 3)) for turns in range(4)])
    turns = torch.arange(4).repeat_interleave(len(images))
    assert accuracy(model.predict(turned)["rotation"], turns) == SAME(metrics["accuracy_rotation"], abs=1e-6)
    assert metrics["test_loss_reconstruction"] == SAME(
        (model(images)["reconstruction"] - images.flatten(1)).square().mean().item(), abs=1e-6
    )
    assert list(model.predict(images)) == ["class", "rotation"]


def test_tasks_with_a_rate_are_read_off_the_mean_of_their_code() -> None:
    """What was reported is of one sample of it for each image, which is near."""
    left = trained({"name": "fixed", "weights": {"info": 0.001}}, {**MULTITASK, "rate": "vib"})
    (content,) = left.checkpoints.values()
    metrics: Any = next(iter(left.report.metrics.values()))
    images, y = held_out()
    model = load(content)
    mean, scale = model.encode(images)
    assert mean.shape == scale.shape == (len(images), 4) and (scale > 0).all()
    state = model.state_dict()
    by_hand = mean @ state["heads.0.0.weight"].mT + state["heads.0.0.bias"]
    torch.testing.assert_close(model(images)["class"], by_hand, rtol=1e-4, atol=1e-5)
    assert list(model.predict(images)) == ["class", "rotation"]
    assert accuracy(model.predict(images)["class"], y) == pytest.approx(metrics["accuracy"], abs=0.2)
    bits = (mean.square() + scale.square() - 1 - 2 * scale.log()).sum(1).mean() / 2 / math.log(2)
    assert 0.5 < metrics["kl_prior_bits"] / bits.item() < 2, "of turned images too"


def test_every_preference_has_the_accuracy_that_was_reported() -> None:
    left = trained({"name": "conditional", "points": 10}, {**MULTITASK, "auxiliaries": ["rotation"]})
    (content,), (points,) = left.checkpoints.values(), left.report.points.values()
    images, y = held_out()
    model = load(content)
    assert len(points) == 10 and points[3]["where"] != points[4]["where"]
    for point in points:
        probabilities = model.predict(images, preference=point["where"])["class"]
        assert accuracy(probabilities, y) == SAME(point["metrics"]["accuracy"], abs=1e-6)
    assert len({point["metrics"]["accuracy"] for point in points}) > 3, "the preference matters"
