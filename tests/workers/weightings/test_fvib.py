"""Flexible VIB: that its closed form is the optimum it is said to be, and that one training has the whole curve."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from torch import Tensor
from torch.nn import functional

from service.contract.methods.data import Digits
from service.contract.methods.models import Mlp
from service.contract.methods.problems import Bottleneck
from service.contract.methods.weightings import Fixed, Fvib, Weighting
from service.contract.study.expansion import PlannedTrial
from service.contract.study.study import Evaluation, Training
from service.contract.wire.epoch_report import EpochReport
from tests.workers.trained.home import MLP, accuracy, held_out, trained
from workers import data
from workers.data.random_streams import Seeds
from workers.models import Sizes, build
from workers.models.components.closed_form import ClosedForm, corners, sharpness
from workers.models.components.latent_code import Code
from workers.problems.rates import kl_to_prior
from workers.problems.rates.vib import Rate
from workers.trained import load
from workers.training.loop import Cohort, train

CPU = torch.device("cpu")
LATER = Fvib(points=4)


def trial(weighting: Weighting = LATER, seed: int = 0, epochs: int = 1, name: str = "") -> PlannedTrial:
    training, model = Training(epochs=epochs, learning_rate=1e-3), Mlp(widths=[32], latent=8)
    return PlannedTrial(f"t{seed}{name}", "a", seed, {}, Bottleneck(), weighting, model, training)


def last_report(*trials: PlannedTrial, **evaluation: Any) -> EpochReport:
    *_, last = train(trials, Digits(), Evaluation(**{"samples": 2, "every": 100, **evaluation}), CPU)
    return last


def closed(classes: int, beta: float, sharp: float = 1.0) -> ClosedForm:
    """Of one member with h(x) = x W + b."""
    sizes = Sizes(3, classes - 1, classes - 1, classes, (1, 1, 3), sharpness=sharp)
    model = build(Mlp(widths=[], latent=2), sizes, Seeds([0], CPU))
    assert isinstance(model, ClosedForm)
    model.condition(torch.full((1, 1, 1), beta))
    return model


def objective(w: Tensor, mean: Tensor, scale: Tensor, beta: float) -> Tensor:
    """Mean over classes, each as often, of cross-entropy to second order around z = 0 plus β times the KL: VIB's loss
    of a decoder W z [d, k] and a code N(μ_y, σ_y²) for each class, every derivative by autograd."""
    z = torch.zeros(w.shape[1], dtype=w.dtype, requires_grad=True)
    (slope,) = torch.autograd.grad((w @ z).logsumexp(0), z, create_graph=True)
    bend = torch.stack([torch.autograd.grad(each, z, create_graph=True)[0] for each in slope])
    aimed = ((slope - w) * mean).sum(1)  # of −(W z)_y + logsumexp W z
    spread = (mean @ bend * mean).sum(1) + scale.square() @ bend.diagonal()
    rate = kl_to_prior(Code(mean[None], scale[None]))[0]
    return (math.log(len(w)) + aimed + 0.5 * spread + beta * rate).mean()


def of_closed_form(classes: int, beta: float) -> float:
    c = corners(classes)
    kept = math.sqrt(1 - beta)
    return objective(kept * c, kept * c, torch.full_like(c, math.sqrt(beta)), beta).item()


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_corners_are_those_of_a_regular_simplex(classes: int) -> None:
    c, eye = corners(classes), torch.eye(classes, dtype=torch.float64)
    torch.testing.assert_close(c.T @ c, classes * eye[1:, 1:])
    torch.testing.assert_close(c @ c.T, classes * eye - 1)


@pytest.mark.parametrize(("classes", "beta"), [(2, 0.5), (3, 0.05), (3, 0.7), (4, 0.3)])
def test_no_decoder_and_no_code_have_less_of_the_expanded_loss_than_the_closed_form(classes: int, beta: float) -> None:
    """Decoder, means and scales are free, and are descended from where they happen to start."""
    shape = (3, classes, classes - 1)

    def cost(flat: Any) -> tuple[float, Any]:
        free = torch.tensor(flat).view(shape).requires_grad_()
        loss = objective(free[0], free[1], functional.softplus(free[2]), beta)
        (slope,) = torch.autograd.grad(loss, free)
        return loss.item(), slope.flatten().numpy()

    starts = [np.random.default_rng(seed).normal(size=math.prod(shape)) for seed in range(2)]
    reached = [float(minimize(cost, start, jac=True, method="L-BFGS-B").fun) for start in starts]
    assert min(reached) == pytest.approx(of_closed_form(classes, beta), abs=1e-4)


def test_the_loss_that_trains_is_the_expanded_one() -> None:
    beta, model = 0.2, closed(4, 0.2)
    generator = torch.Generator().manual_seed(0)
    mean, scale = torch.randn(4, 3, generator=generator), torch.rand(4, 3, generator=generator) + 0.1
    code, y = Code(mean[None], scale[None]), torch.arange(4)[None]
    own = (model.distortion(code, y) + beta * kl_to_prior(code)).mean()
    w = math.sqrt(1 - beta) * corners(4).float()
    torch.testing.assert_close(own, objective(w, mean, scale, beta), rtol=1e-5, atol=1e-5)


@settings(max_examples=20, deadline=None)
@given(beta=st.floats(1e-4, 0.99), seed=st.integers(0, 100))
def test_for_every_beta_the_gradient_goes_to_the_corner_of_the_class(beta: float, seed: int) -> None:
    """∂(pred + β info)/∂h = (1 − β)(h − c_y): one training serves all."""
    model, generator = closed(5, beta), torch.Generator().manual_seed(seed)
    h = torch.randn(1, 7, 4, generator=generator).requires_grad_()
    y = torch.randint(5, (1, 7), generator=generator)
    kept = (1 - model.beta).sqrt()
    code = Code(kept * h, model.beta.sqrt().expand_as(h))
    loss = (model.distortion(code, y) + beta * kl_to_prior(code)).sum()
    (slope,) = torch.autograd.grad(loss, h)
    torch.testing.assert_close(slope, (1 - beta) * (h.detach() - corners(5).float()[y]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("beta", [1e-4, 0.01, 0.5, 0.999])
def test_the_code_and_the_decoder_follow_from_beta(beta: float) -> None:
    model, x = closed(4, beta), torch.rand(1, 6, 3)
    h = model._model.encode(x)[0]
    code = Rate().code(model.encode(x))
    torch.testing.assert_close(code.mean, math.sqrt(1 - beta) * h)
    torch.testing.assert_close(code.scale, torch.full_like(h, math.sqrt(beta)), rtol=1e-4, atol=1e-6)
    z = torch.randn(1, 6, 3)
    torch.testing.assert_close(model.decode(z), math.sqrt(1 - beta) * z @ corners(4).float().T)


@pytest.mark.parametrize("classes", [2, 10, 100])
def test_at_a_corner_a_class_has_the_confidence_that_was_asked_for(classes: int) -> None:
    c = corners(classes)
    p = (sharpness(classes, 0.997) * c @ c.T).softmax(1).diagonal()
    torch.testing.assert_close(p, torch.full_like(p, 0.997))
    assert sharpness(classes, None) == 1.0


def test_the_decoder_is_not_trained() -> None:
    cohort = Cohort([trial()], data.draws(Digits(), [0]), CPU)
    before = cohort.model.named()["head.0.weight"].clone()
    encoder = cohort.model.named()["encoder.0.weight"].clone()
    cohort.train_epoch(1)
    after = cohort.model.named()
    assert torch.equal(after["head.0.weight"], before) and not after["head.0.bias"].any()
    assert not torch.equal(after["encoder.0.weight"], encoder)
    torch.testing.assert_close(before[0], sharpness(10, 0.997) * corners(10).float())


def test_members_are_as_they_are_alone_whatever_their_ranges() -> None:
    narrow = Fvib.model_validate({"beta": {"from": 0.01, "to": 0.5}, "points": 4})
    both = last_report(trial(seed=0), trial(narrow, seed=1), samples=1)
    alone = last_report(trial(narrow, seed=1), samples=1)
    for own, other in zip(both.points["t1"], alone.points["t1"], strict=True):
        assert own["where"] == other["where"]
        assert own["metrics"] == pytest.approx(other["metrics"], rel=1e-3, abs=1e-4)
    assert [point["where"]["beta"] for point in both.points["t0"]][-1] == 1.0


def test_one_training_lies_above_networks_that_were_trained_for_one_beta_each() -> None:
    """On digits, a short training: at most the rate of each of them, and more of the label."""
    betas = [1e-3, 1e-2, 1e-1]
    alone = last_report(*(trial(Fixed(beta=beta), epochs=15, name=f"{beta}") for beta in betas))
    points = [point["metrics"] for point in last_report(trial(Fvib(points=16), epochs=15)).points["t0"]]
    rates = [metrics["i_xz_bits"] or 0.0 for metrics in points]
    assert all(more > less for more, less in pairwise(rates)), "a larger β compresses more"
    for beta in betas:
        network = alone.metrics[f"t0{beta}"]
        best = max(m["i_zy_bits"] or 0.0 for m in points if (m["i_xz_bits"] or 0.0) <= (network["i_xz_bits"] or 0.0))
        assert best > (network["i_zy_bits"] or 0.0), beta


def test_at_beta_1_the_code_carries_nothing() -> None:
    last = last_report(trial(Fvib(points=2))).points["t0"][-1]["metrics"]
    assert last["i_xz_bits"] == pytest.approx(0.0, abs=1e-3) and abs(last["i_zy_bits"] or 0.0) < 0.01


@pytest.mark.parametrize("model", [MLP, {"name": "rnn", "embedding": 6, "hidden": [8], "latent": 4}])
def test_taken_home_it_has_the_accuracy_that_was_reported_at_every_beta(model: dict[str, Any]) -> None:
    left, (images, y) = trained({"name": "fvib", "points": 4}, model=model), held_out()
    ((own, content),) = left.checkpoints.items()
    for point in left.report.points[own]:
        network = load(content, beta=point["where"]["beta"])
        assert accuracy(network.predict(images), y) == pytest.approx(point["metrics"]["accuracy"], abs=1e-6)
    with pytest.raises(ValueError, match="beta must lie in the range"):
        load(content, beta=2.0)
    with pytest.raises(ValueError, match="was trained for every β"):
        load(content)(images)


def test_a_decoder_is_surer_than_chance() -> None:
    assert sharpness(10, 0.11) > 0
    with pytest.raises(ValueError, match=r"confidence must be above chance, 1/10, got 0.1"):
        sharpness(10, 0.1)
