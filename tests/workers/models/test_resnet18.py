"""ResNet-18: torchvision's own computation, on the cohorts' loop."""

from __future__ import annotations

from typing import Any, Literal

import pytest
import torch
from torch import Tensor, nn

from service.contract.methods.data import Digits
from service.contract.methods.models import Resnet18
from service.contract.methods.problems import Bottleneck
from service.contract.methods.weightings import Fixed
from service.contract.study.parsing import check_study
from tests.planned import planned
from workers import data, models, optimizers, problems, weightings
from workers.data.random_streams import Seeds
from workers.planning.cohorts import plan
from workers.problems import Batch
from workers.problems.bottleneck import Bottleneck as Problem
from workers.training import gradients
from workers.training.loop import train

CPU = torch.device("cpu")
SHAPE = (2, 12, 10)
FEATURES = 2 * 12 * 10


def built(spec: Resnet18, outputs: int = 6, scalars: tuple[float, ...] = (), seeds: tuple[int, ...] = (0,)) -> Any:
    return models.build(spec, models.Sizes(FEATURES, outputs, 3, 10, SHAPE, scalars), Seeds(seeds, CPU))


def torchvisions(model: Any, spec: Resnet18, outputs: int = 6) -> nn.Module:
    """torchvision's module with the weights and running statistics of a model."""
    from torchvision.models import resnet18

    module: nn.Module = resnet18(weights=None, num_classes=outputs)
    if spec.small_images:
        module.conv1 = nn.Conv2d(SHAPE[0], 64, 3, stride=1, padding=1, bias=False)
        module.maxpool = nn.Identity()
    else:
        module.conv1 = nn.Conv2d(SHAPE[0], 64, 7, stride=2, padding=3, bias=False)
    with torch.no_grad():
        for weight, leaf in zip(module.parameters(), model.encoder.leaves, strict=False):
            weight.copy_(first(leaf)[0])
        for name, own in module.named_buffers():
            own.copy_(model.buffers[name])
    return module.to(memory_format=torch.channels_last)  # batch norm of few examples magnifies the rounding of another


def images(x: Tensor) -> Tensor:
    return x[0].view(-1, *SHAPE).contiguous(memory_format=torch.channels_last)


@pytest.fixture(autouse=True)
def same_draws() -> None:
    torch.manual_seed(0)


def first(leaf: Tensor) -> Tensor:
    """Kernels lie in the Stack with channels last: [1, out, k, k, in] -> [1, out, in, k, k]."""
    return leaf.permute(0, 1, 4, 2, 3) if leaf.dim() == 5 else leaf


def after_a_batch(model: Any) -> Any:
    """The model with running statistics that are no longer those it started with."""
    model.train(True)
    model.encode(torch.rand(1, 8, FEATURES))
    model.train(False)
    return model


@pytest.mark.parametrize("small_images", [False, True])
@pytest.mark.parametrize("training", [False, True])
def test_it_computes_what_torchvision_computes_with_its_weights(small_images: bool, training: bool) -> None:
    spec = Resnet18(small_images=small_images, latent=3)
    model = after_a_batch(built(spec))
    module = torchvisions(model, spec).train(training)
    model.train(training)
    x = torch.rand(1, 4, FEATURES)
    (out,) = model.encode(x)
    torch.testing.assert_close(out[0], module(images(x)))
    for name, buffer in module.named_buffers():
        torch.testing.assert_close(model.buffers[name], buffer)


def test_the_step_of_a_term_is_autograds_on_torchvisions_module() -> None:
    spec = Resnet18(latent=3, head=[])
    model, problem = built(spec), problems.build(Bottleneck(), 3)
    module = torchvisions(model, spec).train()
    batch = Batch(torch.rand(1, 8, FEATURES), torch.arange(8)[None], torch.randn(1, 8, 3))
    fixed = weightings.build([Fixed(beta=0.5)], weightings.Setting(problem.terms, 3, CPU))
    model.train(True)
    step = gradients.step(model, problem, fixed, batch)

    pred, info = problem.losses(model, (module(images(batch.x))[None],), batch)
    expected = torch.autograd.grad((pred + 0.5 * info).sum(), list(module.parameters()))
    pieces = torch.split(step.encoder[0], [g.numel() for g in expected])
    assert len(expected) == 62, "convolutions, norms and the head"
    for leaf, piece, g in zip(model.encoder.leaves, pieces, expected, strict=True):
        torch.testing.assert_close(first(piece.view(leaf.shape))[0], g, rtol=1e-3, atol=1e-4)


def test_torchvisions_weights_start_as_its_own_and_depend_on_the_seed_alone() -> None:
    before = torch.get_rng_state()
    one, same, other = (built(Resnet18(), seeds=(seed,)) for seed in (5, 5, 6))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(one.encoder.flat, same.encoder.flat) and torch.equal(one.head.flat, same.head.flat)
    assert not torch.equal(one.encoder.flat, other.encoder.flat)
    stem, gain, shift = one.encoder.leaves[:3]
    assert stem.std().item() == pytest.approx((2 / (64 * 49)) ** 0.5, rel=0.05)  # √(2 / fan out)
    assert (gain == 1).all() and (shift == 0).all()


@pytest.mark.parametrize("latent", [1, 200])
@pytest.mark.parametrize("rate", ["none", "vib", "nib"])
def test_any_latent_size_and_every_rate_is_encoded(latent: int, rate: Literal["none", "vib", "nib"]) -> None:
    problem = Problem(Bottleneck(rate=rate), latent)
    sizes = models.Sizes(FEATURES, problem.outputs, latent, 10, SHAPE, problem.scalars)
    model = models.build(Resnet18(latent=latent), sizes, Seeds([0], CPU))
    batch = Batch(torch.rand(1, 4, FEATURES), torch.arange(4)[None], torch.randn(1, 4, latent))
    model.train(True)
    fixed = weightings.build([Fixed(beta=0.5)], weightings.Setting(problem.terms, latent, CPU))
    step = gradients.step(model, problem, fixed, batch)
    assert step.encoder.shape == model.encoder.flat.shape and step.encoder.isfinite().all()
    if rate == "nib":
        assert step.encoder[0, -1] != 0  # its trained noise is the last leaf


def test_evaluation_changes_nothing_and_does_not_depend_on_the_other_images() -> None:
    model = after_a_batch(built(Resnet18(small_images=True)))
    before = {name: buffer.clone() for name, buffer in model.buffers.items()}
    assert before, "it has running statistics"
    x = torch.rand(1, 5, FEATURES)
    (together,), (again,), (alone,) = model.encode(x), model.encode(x), model.encode(x[:, 2:3])
    assert torch.equal(together, again)
    torch.testing.assert_close(together[:, 2:3], alone, rtol=1e-3, atol=1e-5)
    assert all(torch.equal(buffer, before[name]) for name, buffer in model.buffers.items())


def test_a_training_batch_of_one_uses_the_running_statistics_and_leaves_them() -> None:
    model = after_a_batch(built(Resnet18()))
    before = {name: buffer.clone() for name, buffer in model.buffers.items()}
    assert before, "it has running statistics"
    x = torch.rand(1, 1, FEATURES)
    (evaluated,) = model.encode(x)
    model.train(True)
    (trained,) = model.encode(x)
    assert torch.equal(trained, evaluated)
    assert all(torch.equal(buffer, before[name]) for name, buffer in model.buffers.items())


def test_a_cohort_of_two_is_refused() -> None:
    with pytest.raises(ValueError, match="resnet18 does not stack: a cohort of it has 1 member, got 2"):
        built(Resnet18(), seeds=(0, 1))


def test_it_learns_digits_and_evaluation_follows_once_the_statistics_have_settled() -> None:
    digits = data.load(Digits(train_fraction=0.2, test_images=200))
    problem = Problem(Bottleneck(), 8)
    sizes = models.Sizes(64, 16, 8, 10, digits.shape)
    model = models.build(Resnet18(small_images=True, latent=8, head=[]), sizes, Seeds([0], CPU))
    fixed = weightings.build([Fixed(beta=1e-4)], weightings.Setting(problem.terms, 8, CPU))
    adam = optimizers.build("adam", [model.encoder.flat, model.head.flat], torch.tensor([1e-3]))
    x, y = digits.x_train[:][None], digits.y_train[None]
    model.train(True)
    for _ in range(12):
        rows = torch.randperm(len(digits.x_train[:]))[:48]
        found = gradients.step(model, problem, fixed, Batch(x[:, rows], y[:, rows], torch.zeros(1, 48, 8)))
        adam.step([found.encoder, found.head])
    with torch.no_grad():
        for _ in range(50):  # after so few steps the running statistics lag far behind the weights
            model.encode(x[:, :96])
        model.train(False)
        s = model.encode(digits.x_test[:][None])
        logits = problem.logits(model, s, torch.zeros(1, len(digits.x_test[:]), 8))
    assert (logits[0].argmax(-1) == digits.y_test).float().mean() > 0.5  # by chance 0.1


def test_a_study_of_it_trains_under_manual_and_gram_weightings() -> None:
    study = check_study(
        {
            "name": "resnet18 on digits",
            "data": {"name": "digits", "train_fraction": 0.05, "test_images": 50},
            "model": {"name": "resnet18", "latent": 8, "head": []},
            "training": {"epochs": 1, "batch_size": 32},
            "evaluation": {"samples": 2, "attacks": [{"name": "pgd", "steps": 2}], "attack_images": 20},
            "seeds": [0, 1],
            "arms": [{"name": w, "weighting": {"name": w}} for w in ("fixed", "mib")],
        }
    )
    cohorts = plan(planned(study), slots=1, size=4)
    assert len(cohorts) == 4, "each trains alone"
    for cohort in cohorts:
        *_, last = train(cohort, study.data, study.evaluation, CPU)
        (metrics,) = last.metrics.values()
        assert not last.failures
        assert {"loss_info", "accuracy", "robust_pgd", "i_zy_bits"} <= {m for m, v in metrics.items() if v is not None}
        assert metrics["weight_pred"] is not None and metrics["weight_pred"] > 0
