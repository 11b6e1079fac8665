"""torchjd's weightings against the papers' formulas, written down here on the gradients themselves, batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from service.contract.methods import weightings as specs
from tests.workers.weightings.test_torchjd_matrices import batches
from tests.workers.weightings.test_torchjd_weightings import CPU
from workers.weightings import Setting, build

Array = np.ndarray[Any, Any]
LOSSES = np.array([0.7, 2.0, 0.4])
RAY = np.array([0.5, 0.25, 0.25])


def setting(terms: int) -> Setting:
    return Setting(("a", "b", "c")[:terms], 16, CPU, seeds=(3,), batches=2, epochs=3)


def steps(params: Any, terms: int) -> list[tuple[Array, Array, Array]]:
    """Of each batch: its gradients, those of half of it, and the weights."""
    ours, seen = build([params], setting(terms)), []
    for whole, half in batches(1):
        g, a = whole[:, :terms], half[:, :terms]
        w = ours(torch.ones(1, terms).double(), ours.gram(g, a))
        seen.append((g[0].numpy(), a[0].numpy(), w[0].numpy()))
    return seen


def onto_simplex(v: Array) -> Array:
    """max(v − t, 0) with the t at which it sums to 1, by bisection."""
    low, high = v.min() - 1, v.max()
    for _ in range(100):
        t = (low + high) / 2
        low, high = (t, high) if np.maximum(v - t, 0).sum() > 1 else (low, t)
    clipped: Array = np.maximum(v - t, 0)
    return clipped


def test_gradvac_turns_a_gradient_until_its_cosine_is_the_average_of_the_past() -> None:
    average, turned = np.zeros((2, 2)), 0
    for g, _, w in steps(specs.Gradvac(beta=0.3), 2):
        total = np.zeros(5)
        for i, j in ((0, 1), (1, 0)):
            own, cosine = g[i].copy(), g[i] @ g[j] / np.linalg.norm(g[i]) / np.linalg.norm(g[j])
            if cosine < average[i, j]:
                target, length = average[i, j], np.linalg.norm(g[i])
                sines = np.sqrt(1 - cosine**2), np.sqrt(1 - target**2)
                own += length * (target * sines[0] - cosine * sines[1]) / (np.linalg.norm(g[j]) * sines[1]) * g[j]
                assert own @ g[j] / np.linalg.norm(own) / np.linalg.norm(g[j]) == pytest.approx(target, abs=1e-6)
                turned += 1
            average[i, j] = 0.7 * average[i, j] + 0.3 * cosine
            total += own
        np.testing.assert_allclose(w @ g, total, atol=1e-6)
    assert turned, "gradients that were never turned would show nothing"


def test_cr_mogm_averages_the_weights_of_the_shortest_update() -> None:
    """Of two gradients that of the hull's min-norm point, in closed form."""
    average: Array | None = None
    for g, _, w in steps(specs.CrMogm(smoothing=0.7), 2):
        first = float(np.clip(g[1] @ (g[1] - g[0]) / ((g[0] - g[1]) @ (g[0] - g[1])), 0, 1))
        shortest = np.array([first, 1 - first])
        average = shortest if average is None else 0.7 * average + 0.3 * shortest
        np.testing.assert_allclose(w, average, atol=1e-6)


def test_modo_takes_one_projected_step_per_batch() -> None:
    weights = np.full(3, 1 / 3)
    for g, a, w in steps(specs.Modo(learning_rate=0.02, rho=0.4), 3):
        products = 2 * a @ (2 * (g - a)).T
        weights = onto_simplex(weights - 0.02 * (products @ weights + 0.4 * weights))
        np.testing.assert_allclose(w, weights, atol=1e-9)


def test_sdmgrad_descends_towards_the_preferred_direction() -> None:
    """Products in units of the mean squared length, as in the authors' program."""
    weights = np.full(3, 1 / 3)
    params = specs.Sdmgrad(pull=0.6, preference=0.5, learning_rate=0.02, momentum=0.2, steps=4)
    for g, a, w in steps(params, 3):
        products, velocity = 2 * a @ (2 * (g - a)).T, np.zeros(3)
        products /= np.sqrt(np.maximum(np.diag(products), 0)).mean() ** 2 + 1e-8
        for _ in range(4):
            velocity = 0.2 * velocity + products @ (weights + 0.6 * RAY)
            weights = onto_simplex(weights - 0.02 * velocity)
        np.testing.assert_allclose(w, (weights + 0.6 * RAY) / 1.6, atol=1e-9)


def test_excess_mtl_grows_weights_by_excess_risks_in_units_of_the_warm_up() -> None:
    weights, squares, before = np.full(3, 1 / 3), np.zeros((3, 5)), []
    for step, (g, _, w) in enumerate(steps(specs.ExcessMtl(step_size=0.2, warm_up=1), 3)):
        squares += g**2
        excess = (g**2 / np.sqrt(squares)).sum(1)  # gᵀH⁻¹g
        if step < 2:  # an epoch of two batches
            before.append(excess)
        else:
            weights = weights * np.exp(0.2 * excess / np.mean(before, axis=0))
            weights /= weights.sum()
        np.testing.assert_allclose(w, weights, atol=1e-5)


def length(v: Array) -> float:
    return float(np.linalg.norm(v))


ALONG = LOSSES @ RAY / length(RAY)  # d₁
ASIDE = LOSSES - ALONG * RAY / length(RAY)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        (specs.GeometricMean(), LOSSES.prod() ** (1 / 3) / (3 * LOSSES)),
        (
            specs.Cosmos(penalty=0.7, preference=0.5),
            RAY - 0.7 * (RAY / length(LOSSES) - (RAY @ LOSSES) * LOSSES / length(LOSSES) ** 3) / length(RAY),
        ),
        (specs.Pbi(theta=0.5, preference=0.5), RAY / length(RAY) + 0.5 * ASIDE / length(ASIDE)),
    ],
    ids=["geometric mean", "cosmos", "pbi"],
)
def test_weights_are_the_gradient_of_what_is_descended(params: Any, expected: Array) -> None:
    w = build([params], setting(3))(torch.tensor(LOSSES)[None].float(), None)[0]
    np.testing.assert_allclose(w.numpy(), expected, atol=1e-5)
