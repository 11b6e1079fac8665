"""Convex functions of the rate."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from pydantic import ValidationError
from torch import Tensor

from service.contract.methods.models import Mlp
from service.contract.methods.problems import Bottleneck
from service.contract.methods.weightings import Fixed, Mib
from service.contract.parameters.with_axes import with_axes
from workers import models, problems
from workers.data.random_streams import Seeds
from workers.problems import transforms
from workers.problems.bottleneck import Bottleneck as Problem

K, B, LATENT = 3, 20, 4
SHIFT = 30 * math.log(2)
CASES: list[tuple[dict[str, Any], Any, Any]] = [
    ({"transform": "square"}, lambda r: r**2, lambda r: 2 * r),
    ({"transform": "power", "exponent": 0.5}, lambda r: r**1.5, lambda r: 1.5 * r**0.5),
    ({"transform": "exp", "eta": 0.7}, lambda r: math.exp(0.7 * r), lambda r: 0.7 * math.exp(0.7 * r)),
    (
        {"transform": "shifted-exp", "eta": 0.7, "shift_bits": 30.0},
        lambda r: math.exp(0.7 * (r - SHIFT)) / 0.7,
        lambda r: math.exp(0.7 * (r - SHIFT)),
    ),
]


def losses(spec: Bottleneck, s_scale: float = 1.0) -> tuple[Tensor, Tensor]:
    """Terms [K, 2] of one batch, and the gradient of info with respect to the encoder's output."""
    g = torch.Generator().manual_seed(0)
    problem = Problem(spec, LATENT)
    sizes = models.Sizes(6, problem.outputs, LATENT, 5, shape=(1, 1, 6), scalars=problem.scalars)
    model = models.build(Mlp(widths=[7], latent=LATENT), sizes, Seeds([1, 2, 1], torch.device("cpu")))
    s = (torch.randn(K, B, problem.outputs, generator=g) * s_scale).requires_grad_()
    y, noise = torch.randint(5, (K, B), generator=g), torch.randn(K, B, LATENT, generator=g)
    found = problem.losses(model, (s,), problems.Batch(s, y, noise))
    return torch.stack(found, 1).detach(), torch.autograd.grad(found[1].sum(), s)[0]


@pytest.mark.parametrize(("fields", "u", "slope"), CASES)
def test_u_and_its_slope_are_the_formulas(fields: dict[str, Any], u: Any, slope: Any) -> None:
    transform = transforms.build(Bottleneck(**fields))
    assert transform is not None
    r = torch.tensor([0.01, 0.5, 2.0, 6.0], dtype=torch.float64, requires_grad=True)
    value = transform.u(r)
    torch.testing.assert_close(value.detach(), torch.tensor([u(x) for x in r.tolist()], dtype=torch.float64))
    found = torch.autograd.grad(value.sum(), r)[0]
    torch.testing.assert_close(found, torch.tensor([slope(x) for x in r.tolist()], dtype=torch.float64))


@pytest.mark.parametrize(("fields", "u", "slope"), CASES)
def test_the_term_is_u_of_the_mean_and_raw_gives_the_rate_back(fields: dict[str, Any], u: Any, slope: Any) -> None:
    plain, plain_gradient = losses(Bottleneck())
    spec = Bottleneck(**fields)
    found, gradient = losses(spec)
    rates = plain[:, 1].tolist()
    assert found[:, 1].tolist() == pytest.approx([u(r) for r in rates], rel=1e-5)
    assert torch.equal(found[:, 0], plain[:, 0])
    slopes = torch.tensor([slope(r) for r in rates])[:, None, None]
    torch.testing.assert_close(gradient, plain_gradient * slopes, rtol=1e-4, atol=1e-6)
    raw = problems.build(spec, LATENT).raw(found)
    torch.testing.assert_close(raw, plain.double(), rtol=1e-5, atol=1e-5)
    assert found[:, 1].tolist() == pytest.approx([u(r) for r in rates], rel=1e-5), "raw leaves its argument alone"


def test_the_square_is_that_of_the_mean_not_the_mean_of_squares() -> None:
    plain, _ = losses(Bottleneck())
    squared, _ = losses(Bottleneck(transform="square"))
    s = torch.randn(K, B, 2 * LATENT, generator=torch.Generator().manual_seed(0))
    of_samples = Problem(Bottleneck(), LATENT).rate((s,)).square().mean(1)
    torch.testing.assert_close(squared[:, 1], plain[:, 1].square())
    assert (of_samples > 1.001 * squared[:, 1]).all()


def test_the_identity_changes_no_bit(cohorts: Any) -> None:
    assert transforms.build(Bottleneck()) is None
    terms = torch.rand(4, 2)
    assert problems.build(Bottleneck(eta=3.0), LATENT).raw(terms) is terms
    for found, expected in zip(losses(Bottleneck(transform="identity", eta=3.0)), losses(Bottleneck()), strict=True):
        assert torch.equal(found, expected)


@pytest.mark.parametrize(("name", "limit"), [("exp", 20.0), ("shifted-exp", 3.0)])
def test_a_large_exponent_goes_on_as_the_tangent(name: str, limit: float) -> None:
    transform = transforms.build(Bottleneck.model_validate({"transform": name, "eta": 1.0}))
    assert transform is not None
    r = torch.tensor([limit - 1, limit, limit + 10, 1e6], requires_grad=True)
    value = transform.u(r)
    slope = torch.autograd.grad(value.sum(), r)[0]
    below, top = math.exp(limit - 1), math.exp(limit)
    assert value.tolist() == pytest.approx([below, top, 11 * top, (1e6 - limit + 1) * top], rel=1e-5)
    assert slope[[0, 2, 3]].tolist() == pytest.approx([below, top, top], rel=1e-5)
    torch.testing.assert_close(transform.inverse(value.detach()), r.detach(), rtol=1e-5, atol=1e-5)


def test_a_collapsed_rate_just_below_zero_stays_a_number() -> None:
    transform = transforms.build(Bottleneck(transform="power", exponent=0.5))
    assert transform is not None
    r = torch.tensor([-1e-7, 0.0], requires_grad=True)
    value = transform.u(r)
    assert value.tolist() == [0.0, 0.0]
    assert torch.autograd.grad(value.sum(), r)[0].isfinite().all()


def test_a_grid_in_a_parameter_that_the_transform_ignores_is_refused() -> None:
    grid = {"grid": [0.1, 0.2]}
    assert with_axes(Bottleneck).model_validate({"transform": "exp", "eta": grid})
    assert with_axes(Bottleneck).model_validate({"transform": {"grid": ["square", "exp"]}, "eta": grid})
    with pytest.raises(ValidationError, match="eta takes several values but transform 'square' does not use it"):
        with_axes(Bottleneck).model_validate({"transform": "square", "eta": grid})


@pytest.mark.parametrize("weighting", [Fixed(beta=1e-3), Mib()])
def test_the_reported_rate_is_raw(cohorts: Any, weighting: Any) -> None:
    """The first step sees the same model with or without a transform: one step per epoch, one epoch."""
    trial = cohorts.trial("a", weighting, epochs=1, batch_size=2000)
    plain = cohorts.reports([trial])[0].metrics["a"]
    for fields, _, _ in CASES:
        found = cohorts.reports([trial._replace(problem=Bottleneck(**fields))])[0].metrics["a"]
        assert found["loss_info"] == pytest.approx(plain["loss_info"], rel=1e-5), fields
