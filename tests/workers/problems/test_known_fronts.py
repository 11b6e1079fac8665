"""Problems whose front is known: what is found, against the formula."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import moocore
import numpy as np
import pytest
import torch

from service.analysis import truth
from service.answers.presets import presets
from service.contract.methods.data import Gaussian, Toy
from service.contract.study.expansion import PlannedTrial
from service.contract.study.parsing import check_study
from tests.planned import planned
from workers import data
from workers.planning.cohorts import plan
from workers.training.loop import train

CPU = torch.device("cpu")


def trained(spec: dict[str, Any]) -> list[tuple[PlannedTrial, dict[str, float]]]:
    """Every trial with its last metrics."""
    study = check_study({"name": "s", **spec})
    found: dict[str, Any] = {}
    for cohort in plan(planned(study), slots=1):
        *_, last = train(cohort, study.data, study.evaluation, CPU)
        assert not last.failures
        found |= last.metrics
    assert found
    return [(trial, found[trial.id]) for trial in planned(study)]


def preset(name: str) -> dict[str, Any]:
    return dict(next(p for p in presets() if p.name == name).spec)


@pytest.fixture(scope="module")
def gaussian() -> dict[str, list[tuple[PlannedTrial, dict[str, float]]]]:
    """The preset gaussian-truth, one seed, all βs and three of its target rates."""
    torch.set_num_threads(1)
    spec = preset("gaussian-truth")
    arms = spec["arms"]
    arms[1]["weighting"]["rate_bits"] = {"grid": [1, 3, 6]}
    found = trained({**spec, "seeds": [0], "evaluation": {"every": 1000}})
    return {arm["name"]: [pair for pair in found if pair[0].arm == arm["name"]] for arm in arms}


def test_gaussian_data_has_the_given_canonical_correlations() -> None:
    rho = [0.9, 0.5, 0.2]
    d = data.load(Gaussian(correlations=rho, train_samples=200_000, test_samples=2))
    x, y = d.x_train[:].double(), d.y_train.double()
    sxx, syy, sxy = x.T @ x, y.T @ y, x.T @ y
    inverse = [torch.linalg.inv(torch.linalg.cholesky(s)) for s in (sxx, syy)]
    assert torch.linalg.svdvals(inverse[0] @ sxy @ inverse[1].T).tolist() == pytest.approx(rho, abs=0.01)
    off_diagonal = (sxy / len(x)).abs() - torch.diag(torch.diag(sxy / len(x)).abs())
    assert off_diagonal.max() > 0.05, "x is rotated"


def test_a_vib_grid_on_gaussian_data_lands_on_the_exact_curve(gaussian: Any) -> None:
    """On these test examples the exact encoder and decoder lie 0.03 bit under the curve themselves, at β 0.05."""
    rho, found, exact = [0.95, 0.8, 0.6], [], []
    for trial, metrics in gaussian["manual β"]:
        bits, label = metrics["i_xz_bits"], metrics["i_zy_bits"]
        interval = 1.96 * (metrics["i_zy_bits_stderr"] + metrics["i_xz_bits_stderr"])
        above = label - truth.gaussian_at_rate(rho, bits)
        assert above <= interval, f"β {trial.weighting.beta}: {above:.3f} bit above the exact curve"
        assert above >= -0.07, f"β {trial.weighting.beta}: {-above:.3f} bit below the exact curve"
        found.append([bits, -label])
        x, y = truth.gaussian_point(rho, float(trial.weighting.beta))
        exact.append([x, -y])
    assert len(found) == 12
    volume = [moocore.hypervolume(np.array(points), ref=[9.0, 0.0]) for points in (found, exact)]
    assert volume[0] >= 0.97 * volume[1]


def test_target_rate_holds_the_rate_of_training_and_lands_near_it_on_test_codes(gaussian: Any) -> None:
    """After the last step alone the rate is up to a tenth off: Adam's steps keep it swinging."""
    assert len(gaussian["target rate"]) == 3
    for trial, metrics in gaussian["target rate"]:
        assert metrics["loss_info"] / math.log(2) == pytest.approx(trial.weighting.rate_bits, rel=0.01)
        assert metrics["kl_prior_bits"] == pytest.approx(trial.weighting.rate_bits, rel=0.1)


def test_a_continuous_label_has_no_accuracy(gaussian: Any) -> None:
    metrics = gaussian["manual β"][0][1]
    assert metrics["accuracy"] is None and metrics["generalization_gap"] is None
    assert metrics["test_examples"] == 10_000


def test_toy_labels_are_a_function_of_the_symbol() -> None:
    d = data.load(Toy(symbols=12, classes=4, train_samples=30, validation_fraction=0))
    assert d.x_train[:].shape == (30, 12) and d.x_test[:].shape == (12, 12)
    assert (d.x_train[:].sum(1) == 1).all() and torch.equal(d.x_train[:].argmax(1) % 4, d.y_train)


def test_linear_betas_share_the_corner_of_deterministic_labels_and_squared_ones_do_not() -> None:
    """On the line min(I(X;Z), H(Y)) every linear β ends on the corner or at nothing; β r² has its own place."""
    spec = preset("convex-transforms")
    arms = {
        arm["name"]: {**arm, "weighting": {"name": "fixed", "beta": {"grid": [0.05, 0.2, 0.4, 2.0]}}}
        for arm in spec["arms"]
    }
    found = trained({**spec, "seeds": [0], "arms": [arms["linear"], arms["squared"]]})
    bits = {arm: [m["i_xz_pairwise-upper_bits"] for t, m in found if t.arm == arm] for arm in ("linear", "squared")}
    assert len(bits["linear"]) == len(bits["squared"]) == 4
    for rate in bits["linear"]:
        assert rate == pytest.approx(3, abs=0.1) or rate < 0.1
    between = [rate for rate in bits["squared"] if 0.1 < rate < 2.9]
    assert len(between) >= 2 and bits["squared"] == sorted(bits["squared"], reverse=True)
    for _, metrics in found:
        assert metrics["i_zy_bits"] <= min(metrics["i_xz_pairwise-upper_bits"], 3) + 0.05


def toy(front: str, weighting: dict[str, Any], seeds: int = 6) -> np.ndarray[Any, Any]:
    arm = {"name": "a", "problem": {"name": "toy", "front": front}, "weighting": weighting}
    spec = {"model": {"name": "mlp", "latent": 10}, "training": {"epochs": 20, "learning_rate": 0.01}, "arms": [arm]}
    return np.array([[m["f1"], m["f2"]] for _, m in trained({**spec, "seeds": list(range(seeds))})])


def on_front(front: str, points: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Distance to the nearest point of the formula's front."""
    curve = np.array(truth.toy_front(front)[1:]).T
    return np.asarray(np.abs(points[:, None] - curve[None]).max(-1).min(1))


GRID = {"grid": {"from": 0.05, "to": 20.0, "count": 11, "scale": "log"}}


def test_constant_weights_draw_the_convex_front() -> None:
    points = toy("convex", {"name": "fixed", "beta": GRID}, seeds=2)
    assert on_front("convex", points).max() < 0.02
    assert (points > 0.05).all(1).sum() == 10, "its middle too: five of the eleven βs"


def test_constant_weights_find_only_the_ends_of_the_concave_front() -> None:
    points = toy("concave", {"name": "fixed", "beta": GRID})
    assert points.min(1).max() < 0.03, "one objective is nearly at its best in every trial"
    assert on_front("concave", points).max() < 0.02


@pytest.mark.parametrize(
    "weighting", ["mib", "mgda", "stch", "upgrad", "imtl-g", "config", "db-mtl", "cosmos", "sdmgrad"]
)
def test_these_weightings_reach_the_middle_of_the_concave_front(weighting: str) -> None:
    points = toy("concave", {"name": weighting})
    assert on_front("concave", points).max() < 0.02
    assert (points.min(1) > 0.2).sum() >= 2


@pytest.mark.parametrize("weighting", ["uniform", "uw", "dwa", "famo", "random", "geometric-mean", "gradvac"])
def test_these_weightings_end_at_its_ends(weighting: str) -> None:
    assert toy("concave", {"name": weighting}, seeds=4).min(1).max() < 0.05


def test_the_toy_terms_are_the_formulas() -> None:
    from service.contract.methods.problems import ToyProblem as Problem
    from workers import problems

    x = torch.tensor([[0.3, -0.8, 0.1]])
    u = torch.full((3,), 1 / math.sqrt(3))
    a, b = (x - u).square().sum().item(), (x + u).square().sum().item()
    nothing: Any = None  # neither a model nor a batch
    fronts: list[tuple[Any, Callable[[float], float]]] = [
        ("convex", lambda q: q / 4),
        ("concave", lambda q: 1 - math.exp(-q)),
    ]
    for front, f in fronts:
        terms = problems.build(Problem(front=front), 3).losses(nothing, (x,), nothing)
        assert [t.item() for t in terms] == pytest.approx([f(a), f(b)], rel=1e-5)
