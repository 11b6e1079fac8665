"""torchjd's weightings against the papers' formulas, written down here on the gradients themselves, batch by batch."""

from __future__ import annotations

from itertools import combinations, permutations, product
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
SLACK = 1e-3  # of torchjd's projections, which are regularised


def setting(terms: int) -> Setting:
    return Setting(("a", "b", "c")[:terms], 16, CPU, seeds=(3,), batches=2, epochs=3)


def steps(params: Any, terms: int) -> list[tuple[Array, Array, Array]]:
    """Of each batch: its gradients, those of half of it, and the weights."""
    ours, seen = build([params], setting(terms)), []
    for whole, half in batches(1):
        g, a = whole[:, :terms], half[:, :terms]
        w = ours(torch.ones(1, terms).double(), ours.gram(g, a))
        seen.append((g[0].numpy(), a[0].numpy(), w[0].numpy()))
    assert len(seen) > 3
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


def turned_one_by_one(g: Array, averages: Array, orders: tuple[tuple[int, ...], ...]) -> tuple[Array, Array]:
    """The sum of the gradients, each turned towards the others in its order, and the averages after that."""
    total, averages = np.zeros(g.shape[1]), averages.copy()
    for i, order in enumerate(orders):
        own = g[i].copy()
        for j in order:
            length_, cosine = length(own), own @ g[j] / length(own) / length(g[j])
            if cosine < (aim := averages[i, j]):
                sines = np.sqrt(1 - cosine**2), np.sqrt(1 - aim**2)
                own += length_ * (aim * sines[0] - cosine * sines[1]) / (length(g[j]) * sines[1]) * g[j]
            averages[i, j] = 0.7 * averages[i, j] + 0.3 * cosine
        total += own
    return total, averages


def test_gradvac_turns_three_gradients_towards_each_other_in_some_order() -> None:
    """Which order it draws is its own affair: each sum is that of one of the eight, after averages that earlier orders
    left. A sum does not always tell them apart."""
    everyone = list(product(*(tuple(permutations({0, 1, 2} - {i})) for i in range(3))))
    before, apart = [np.zeros((3, 3))], 0
    for g, _, w in steps(specs.Gradvac(beta=0.3), 3):
        ways = [turned_one_by_one(g, averages, orders) for averages in before for orders in everyone]
        before = [averages for total, averages in ways if length(total - w @ g) < 1e-6]
        assert before
        before = list({averages.round(9).tobytes(): averages for averages in before}.values())
        apart += any(length(total - w @ g) > 0.01 for total, _ in ways)
    assert apart, "where every order gives the same sum, nothing is shown"


def nearest(g: Array, wanted: Array, least: Array) -> Array:
    """What is to be added to Σ wanted_i g_i, as weights of the gradients, so that its products with them are at least
    `least`: of all that make some of these equal the one that moves it least. By trying every set of them."""
    gram, ways, bound = g @ g.T, [np.zeros(len(g))], np.flatnonzero(np.isfinite(least))
    for size in range(1, len(bound) + 1):
        for some in map(list, combinations(bound, size)):
            added = np.zeros(len(g))
            added[some] = np.linalg.solve(gram[np.ix_(some, some)], (least - gram @ wanted)[some])
            ways.append(added)
    reaching = [added for added in ways if (gram @ (wanted + added) >= least - 1e-9).all()]
    return min(reaching, key=lambda added: float(added @ gram @ added))


def test_pcd_moves_the_main_gradient_as_little_as_it_must() -> None:
    """The paper's quadratic program on gradients in units of their mean lengths, then as long as the main gradient."""
    mean, moved = np.zeros(3), []
    for step, (g, _, w) in enumerate(steps(specs.Pcd(tau=0.4, decay=0.5), 3), 1):
        mean = 0.5 * mean + 0.5 * (g**2).sum(1)
        even = g / np.sqrt(mean / (1 - 0.5**step))[:, None]
        main = np.array([1.0, 0.0, 0.0])
        progress = 0.4 * (even**2).sum(1)
        added = nearest(even, main, np.where(main == 1, -np.inf, progress))
        update = (main + added) @ even
        np.testing.assert_allclose(w @ g, update * length(g[0]) / length(update), atol=1e-6)
        moved.append(int((added > 1e-6).sum()))
    assert {1, 2} <= set(moved), "where nothing binds, nothing is shown"


def without_conflict(g: Array, wanted: Array) -> Array:
    """Weights of the nearest update to Σ wanted_i g_i that has no negative product with a gradient."""
    return wanted + nearest(g, wanted, np.zeros(len(g)))


def test_dualproj_is_the_nearest_update_to_the_preferred_one_without_conflict() -> None:
    moved = 0
    for dualproj, wanted in (
        (specs.Dualproj(preference="equal"), np.full(3, 1 / 3)),
        (specs.Dualproj(preference=0.5), RAY),
    ):
        for g, _, w in steps(dualproj, 3):
            expected = without_conflict(g, wanted)
            np.testing.assert_allclose(w, expected, atol=SLACK)
            moved += bool((expected - wanted > 10 * SLACK).any())
    assert moved > 2


def test_cr_mogm_averages_the_weights_of_gradients_without_conflict() -> None:
    """UPGrad's, of three gradients: each is projected by itself, then the mean is taken."""
    average: Array | None = None
    for g, _, w in steps(specs.CrMogm(method="upgrad", smoothing=0.7), 3):
        own: Array = np.mean([without_conflict(g, unit) for unit in np.eye(3)], axis=0)
        average = own if average is None else 0.7 * average + 0.3 * own
        np.testing.assert_allclose(w, average, atol=SLACK)


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
