"""ARML against autograd, a quadratic program, and losses whose answer is known."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pytest
import quadprog
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from torch import Tensor

from service.contract.methods.data import Digits
from service.contract.methods.models import Mlp
from service.contract.methods.problems import Multitask
from service.contract.methods.weightings import Arml, Mgda, Uniform
from service.contract.parameters.with_axes import with_axes
from service.contract.study.study import Evaluation
from workers import data
from workers.training.loop import Cohort, train
from workers.weightings import Setting, Weighting, build
from workers.weightings.arml import minimiser, project

CPU = torch.device("cpu")
FOUR = Setting(("main", "a", "b", "c"), 1, CPU)
FORMS = ["simplified", "two-stage"]

vectors = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8)


def gradients(m: int, n: int, seed: int = 0) -> Tensor:
    return torch.randn(m, n, 6, generator=torch.Generator().manual_seed(seed))


@settings(deadline=None)
@given(vectors, st.floats(0.1, 20))
def test_the_projection_is_the_nearest_point_of_the_simplex(v: list[float], total: float) -> None:
    found = project(torch.tensor([v], dtype=torch.float64), total)[0]
    assert (found >= 0).all() and float(found.sum()) == pytest.approx(total)
    k, near = (
        len(v),
        np.clip(np.array(v) - max(v), -3 * total, None),
    )  # a constant, and what is far below, change nothing
    constraints = np.hstack((np.ones((k, 1)), np.eye(k)))
    expected = quadprog.solve_qp(np.eye(k), near, constraints, np.array([total] + [0.0] * k), meq=1)[0]
    assert found.tolist() == pytest.approx(expected.tolist(), abs=1e-6 * total)


def test_rows_are_projected_each_for_itself() -> None:
    v = torch.randn(20, 5, generator=torch.Generator().manual_seed(1)).double() * 4
    v[7] = torch.nan
    found = project(v, 5)
    assert found[7].isnan().all()
    for k in set(range(20)) - {7}:
        torch.testing.assert_close(found[k], project(v[k : k + 1], 5)[0])


@pytest.mark.parametrize("normalize", ["none", "l2"])
def test_alpha_descends_the_distance_of_the_gradients(normalize: Literal["none", "l2"]) -> None:
    """Two steps against autograd on ‖g_main − Σ α_k g_k‖², each projected."""
    arml = build([Arml(learning_rate=0.05, normalize=normalize, average=False)] * 10, FOUR)
    alpha = torch.ones(10, 3, dtype=torch.float64)
    for seed in (0, 1):
        g = gradients(10, 4, seed).double()
        w = arml(torch.ones(10, 4).double(), arml.gram(g))
        seen = g / g.norm(dim=2, keepdim=True) if normalize == "l2" else g
        leaf = alpha.clone().requires_grad_()
        distance = (seen[:, 0] - torch.einsum("mk,mkp->mp", leaf, seen[:, 1:])).square().sum()
        alpha = project(alpha - 0.05 * torch.autograd.grad(distance, leaf)[0], 3)
        torch.testing.assert_close(w, torch.cat((torch.ones(10, 1), alpha), dim=1))
    assert alpha.std() > 0.05, "weights that never move would show nothing"


def test_averaged_weights_are_the_mean_of_the_steps_by_their_cubes() -> None:
    """Step t has a share of about t³, exactly t (t + 1) (t + 2), so that the first steps are soon forgotten."""
    arml, plain = (build([Arml(average=average)] * 5, FOUR) for average in (True, False))
    steps, shares = [], [t * (t + 1) * (t + 2) for t in range(1, 7)]
    for seed in range(6):
        gram = plain.gram(gradients(5, 4, seed))
        steps.append(plain(torch.ones(5, 4).double(), gram))
        w = arml(torch.ones(5, 4).double(), gram)
        expected = sum(share * step for share, step in zip(shares, steps, strict=False)) / sum(shares[: seed + 1])
        torch.testing.assert_close(w, expected)
    assert torch.stack(steps).std(0).max() > 0.1, "equal steps would show nothing"


@settings(deadline=None)
@given(st.integers(0, 1000), st.integers(1, 5), st.integers(1, 8))
def test_the_exact_minimiser_is_that_of_a_quadratic_program(seed: int, k: int, size: int) -> None:
    """Compared by the distance: where gradients depend on each other several α reach it."""
    g = torch.randn(k + 1, size, generator=torch.Generator().manual_seed(seed)).double()
    found = minimiser((g @ g.T)[None])[0]
    assert (found >= 0).all() and float(found.sum()) == pytest.approx(k)
    a, b = (g[1:] @ g[1:].T).numpy() + 1e-10 * np.eye(k), (g[1:] @ g[0]).numpy()
    constraints = np.hstack((np.ones((k, 1)), np.eye(k)))
    expected = torch.tensor(quadprog.solve_qp(a, b, constraints, np.array([k] + [0.0] * k), meq=1)[0])
    ours, theirs = (float((g[0] - alpha @ g[1:]).norm()) for alpha in (found, expected))
    assert ours == pytest.approx(theirs, abs=1e-4)


@settings(deadline=None)
@given(st.integers(0, 1000), st.floats(-6, 6))
def test_alpha_is_never_negative_and_sums_to_the_number_of_auxiliaries(seed: int, scale: float) -> None:
    arml = build([Arml(every=1, learning_rate=0.05), Arml(every=2, normalize="l2")], FOUR)
    for step in range(4):
        g = gradients(2, 4, seed + step) * 10**scale
        w = arml(torch.ones(2, 4), arml.gram(g))
        assert (w >= 0).all() and w[:, 0].tolist() == [1, 1]
        assert w[:, 1:].sum(1).tolist() == pytest.approx([3, 3], rel=1e-6)


def test_alpha_moves_every_so_many_batches_and_only_in_the_first_stage() -> None:
    params = [Arml(every=3), Arml(every=2, form="two-stage", stage=0.5), Arml(every=5, average=False)]
    arml = build(params, FOUR._replace(batches=4, epochs=3))
    moved, noisy, before = [], [], torch.ones(3, 4)
    for step in range(12):
        now = arml(torch.ones(3, 4), arml.gram(gradients(1, 4, step).expand(3, 4, 6)))
        moved.append((now != before).any(1).tolist())
        deviation = arml.parameter_noise()
        noisy.append(None if deviation is None else deviation.tolist())
        before = now
    steps = [[s + 1 for s in range(12) if moved[s][k]] for k in range(3)]
    assert steps == [[3, 6, 9, 12], [2, 4, 6], [5, 10]]
    assert noisy[6:] == [None] * 6
    expected = [math.sqrt(2 * 1e-6 * (1 + t) ** -0.55) for t in range(6)]
    assert [n[1] for n in noisy[:6] if n] == pytest.approx(expected)
    assert {n[k] for n in noisy[:6] if n for k in (0, 2)} == {0.0}


class Quadratics:
    """½‖θ − target‖² for the main term, a related auxiliary with the same target, and one far off."""

    terms = ("main", "far", "related")

    def __init__(self) -> None:
        self.target = torch.tensor([1.0, -1.0, 0.5])
        self.targets = torch.stack((self.target, torch.tensor([-6.0, 5.0, 4.0]), self.target))
        self.curvature = torch.tensor([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.5, 1.0, 2.0]])

    def gradients(self, theta: Tensor) -> Tensor:  # [m, 3] -> [m, n, 3]
        return self.curvature * (theta[:, None] - self.targets)

    def train(self, weighting: Weighting, m: int, steps: int) -> tuple[Tensor, Tensor]:
        """Weights of the last step and parameters after it, from 0, with the noise that the weighting asks for."""
        g = torch.Generator().manual_seed(0)
        theta, w = torch.zeros(m, 3), torch.ones(m, 3)
        for _ in range(steps):
            found = self.gradients(theta)
            w = weighting(found.square().sum(2), weighting.gram(found))
            theta = theta - 0.05 * torch.einsum("mi,mip->mp", w, found)
            if (noise := weighting.parameter_noise()) is not None:
                theta += noise[:, None].float() * torch.randn(m, 3, generator=g)
        return w, theta


@pytest.mark.parametrize("form", FORMS)
def test_alpha_goes_to_the_auxiliary_that_shares_the_main_optimum(form: str) -> None:
    """At any learning rate of the paper; with gradients of length one only as far as Σα = K lets it: to 3/2."""
    kinds: list[dict[str, Any]] = [{"learning_rate": rate} for rate in (5e-4, 5e-3, 5e-2)]
    kinds += [{"gradient_average": 0.9}, {"every": 20}, {"normalize": "l2"}]
    problem, params = Quadratics(), [Arml(**{"form": form, "noise": 1e-3, "every": 1, **kind}) for kind in kinds]
    setting = Setting(problem.terms, 1, CPU, batches=100, epochs=20)
    w, theta = problem.train(build(params, setting), len(params), 2000)
    assert w[:-1, 2].min() > 1.95 and w[-1, 2] > 1.4
    away = (theta - problem.target).norm(dim=1)
    assert away[:-1].max() < 0.3
    equal = problem.train(build([Uniform()], setting), 1, 2000)[1]
    assert (equal[0] - problem.target).norm() > 2, "with equal weights the far one pulls the parameters away"


@pytest.mark.parametrize("form", FORMS)
def test_alpha_ends_at_its_exact_minimiser(form: Literal["simplified", "two-stage"]) -> None:
    """Auxiliaries on both sides of the main target, one twice as far: they cancel at α = 2/3, 4/3."""
    problem, setting = Quadratics(), Setting(Quadratics.terms, 1, CPU, batches=100, epochs=20)
    away = torch.tensor([3.0, 0.0, -2.0])
    problem.targets = problem.target + torch.stack((0 * away, away, -away / 2))
    problem.curvature = torch.ones(3, 3)
    params = [Arml(form=form, learning_rate=rate) for rate in (5e-4, 5e-3, 5e-2)]
    arml = build(params, setting)
    w, _ = problem.train(arml, len(params), 2000)
    assert max(arml.report()["alpha_gap"].values()) < 0.05
    torch.testing.assert_close(w[:, 1:], torch.tensor([[2 / 3, 4 / 3]]).expand(3, 2), atol=0.05, rtol=0)


def test_alpha_ends_at_its_exact_minimiser_on_digits(cohorts: Any) -> None:
    """With the step of every 20th batch it stays near its start."""
    tasks = Multitask(main="class", auxiliaries=["rotation", "random-labels"])
    defaults, rare = Arml(), Arml(every=20, learning_rate=5e-3, average=False)
    trials = [
        cohorts.trial(name, w, epochs=40, batch_size=64)._replace(problem=tasks, model=Mlp(widths=[128], latent=64))
        for name, w in (("defaults", defaults), ("rare", rare), ("equal", Uniform()))
    ]
    *_, last = train(trials, Digits(labels=100), Evaluation(every=40), CPU)
    metrics: dict[str, Any] = last.metrics
    assert metrics["defaults"]["alpha_gap"] < 0.05 < metrics["rare"]["alpha_gap"]
    assert abs(metrics["defaults"]["weight_rotation"] - 1) > 0.05
    assert "alpha_gap" not in metrics["equal"]


def test_the_gram_matrix_of_halves_is_that_of_the_mean_gradients() -> None:
    """One batch has the noise of its gradients in their squared lengths, two halves have not."""
    g = torch.Generator().manual_seed(0)
    mean = torch.randn(4, 6, generator=g)
    noise = torch.tensor([1.0, 0.5, 2.0, 3.0])[:, None]  # of half a batch
    arml = build([Arml(gram="halves"), Arml()], FOUR)
    assert arml.needs_halves
    total = torch.zeros(2, 4, 4).double()
    for _ in range(4000):
        first, second = (mean + noise * torch.randn(4, 6, generator=g) for _ in range(2))
        whole, half = (t.expand(2, 4, 6) for t in ((first + second) / 2, first / 2))
        total += arml.gram(whole, half) / 4000
    exact, inflated = mean @ mean.T, mean @ mean.T + torch.diag(6 * noise[:, 0] ** 2 / 2)
    torch.testing.assert_close(total.float(), torch.stack((exact, inflated)), atol=0.7, rtol=0)
    assert (inflated - exact).diagonal().amax() > 20


def test_lengths_of_halves_are_not_divided_by() -> None:
    with pytest.raises(ValidationError, match="normalize must be 'none', got 'l2'"):
        Arml(gram="halves", normalize="l2")


def test_averaged_gradients_replace_the_batchs_own_in_the_gram_matrix() -> None:
    mixed = build([Arml(gradient_average=0.9), Mgda(), Arml()], FOUR)
    average = torch.zeros(4, 6)
    for step in range(3):
        g = gradients(3, 4, step)
        average = g[0] if step == 0 else 0.9 * average + 0.1 * g[0]
        gram = mixed.gram(g)
        torch.testing.assert_close(gram[0], average @ average.T)
        torch.testing.assert_close(gram[1:], g[1:] @ g[1:].mT)
    assert not torch.allclose(gram[0], g[0] @ g[0].T)


def test_halves_stay_halves_beside_members_that_need_none() -> None:
    mixed = build([Mgda(), Arml(gram="halves"), Arml()], FOUR)
    g, half = gradients(3, 4), gradients(3, 4, seed=1)
    gram = mixed.gram(g, half)
    across = half[1] @ (g - half)[1].T
    torch.testing.assert_close(gram[1], 2 * (across + across.T))
    torch.testing.assert_close(gram[[0, 2]], g[[0, 2]] @ g[[0, 2]].mT)


def test_averages_find_the_related_auxiliary_under_noise() -> None:
    """The batch's gradients are mostly noise, and the related term's is the longer: only averages see the direction."""
    g = torch.Generator().manual_seed(0)
    signal = torch.zeros(3, 200)
    signal[0, 0], signal[1, 1], signal[2, 0] = 1.0, 1.0, 1.0
    plain, averaged = (Arml(every=1, gradient_average=a) for a in (0.0, 0.99))
    arml = build([plain, averaged], Setting(("main", "other", "related"), 1, CPU))
    lengths = torch.tensor([0.3, 0.3, 0.4])[:, None]
    tail = []
    for _ in range(2000):
        noisy = (signal + lengths * torch.randn(3, 200, generator=g)).expand(2, 3, 200)
        tail.append(arml(torch.ones(2, 3), arml.gram(noisy)))
    mean = torch.stack(tail[-500:]).mean(0)
    assert mean[0, 2] < 1 and mean[1, 2] > 1.3  # without noise: 3/2


def test_langevin_noise_reaches_every_parameter_with_its_variance(cohorts: Any) -> None:
    silent, loud = (Arml(form="two-stage", noise=noise) for noise in (0.0, 1e-4))
    trials = [cohorts.trial(str(i), w, epochs=2, batch_size=5000) for i, w in enumerate((silent, loud, loud))]
    cohort = Cohort(trials, [data.load(Digits())], CPU)
    cohort.train_epoch(1)
    for stack in (cohort.model.encoder, cohort.model.head):
        noise = stack.flat[1] - stack.flat[0]
        assert float(noise.std()) == pytest.approx(math.sqrt(2e-4), rel=0.1)
        assert torch.equal(stack.flat[1], stack.flat[2]), "equal seeds, equal noise"


@pytest.mark.parametrize(
    "params",
    [
        {"form": "two-stage", "noise": 1e-4},
        {"gradient_average": 0.9, "normalize": "l2"},
        {"gradient_average": 0.5, "gram": "halves"},
    ],
)
def test_noise_and_averages_are_the_members_own(cohorts: Any, params: dict[str, Any]) -> None:
    trials = [cohorts.trial(str(seed), Arml(every=2, **params), seed=seed, epochs=2) for seed in (3, 7)]
    neighbours = [cohorts.trial("m", Mgda(), epochs=2), cohorts.trial("s", Arml(every=3), epochs=2)]
    together = cohorts.reports([trials[0], *neighbours, trials[1]])
    assert len(together) == 2
    for trial in trials:
        for a, b in zip(cohorts.reports([trial]), together, strict=True):
            ours, alone = ({k: v for k, v in r.metrics[trial.id].items() if k != "seconds"} for r in (b, a))
            assert ours == pytest.approx(alone, rel=1e-5, abs=1e-6)


def test_a_term_without_gradient_is_not_divided_by() -> None:
    g = gradients(1, 4)
    g[0, 2] = 0
    w = build([Arml(every=1, normalize="l2")], FOUR)(torch.ones(1, 4), g @ g.mT)
    assert w.isfinite().all() and float(w[0, 1:].sum()) == pytest.approx(3)


def test_a_main_term_alone_has_weight_one() -> None:
    arml = build([Arml(every=1)], Setting(("main",), 1, CPU))
    assert arml(torch.ones(1, 1), torch.ones(1, 1, 1)).tolist() == [[1.0]]


def test_a_grid_that_the_form_does_not_use_is_refused() -> None:
    with pytest.raises(ValidationError, match="noise has a grid but form 'simplified' does not use it"):
        with_axes(Arml).model_validate({"noise": {"grid": [1e-6, 1e-5]}})
