"""torchjd's methods through the adapter: the right numbers, and members that do not feel each other."""

from __future__ import annotations

import logging
import subprocess
import sys
from importlib.util import find_spec
from typing import Any, get_args

import pytest
import torch
from torch import Tensor
from torchjd import scalarization

from service.contract.methods.problems import Multitask
from service.contract.methods.weightings import (
    AlignedMtl,
    Config,
    Cosmos,
    Dualproj,
    Dwa,
    Famo,
    GeometricMean,
    ImtlL,
    Mgda,
    NashMtl,
    Pcgrad,
    Stch,
    Upgrad,
    Uw,
    Weighting,
)
from workers.weightings import Setting, build, torchjd_adapter
from workers.weightings.solving import min_norm

CPU = torch.device("cpu")
SETTING = Setting(("pred", "info"), 16, CPU)
THREE = Setting(("a", "b", "c"), 16, CPU)
KINDS = {kind.model_fields["name"].default: kind for kind in get_args(get_args(Weighting)[0])}
SOLVERS = {"upgrad": "quadprog", "dualproj": "quadprog", "cagrad": "cvxpy", "nash-mtl": "ecos"}  # extras of torchjd
FEW_SOLUTIONS: dict[str, dict[str, Any]] = {"nash-mtl": {"optim_niter": 2}}  # half a second each otherwise
OF_TASKS = {"single": {"task": "rotation"}}
OF_INFORMATION = {"target-rate", "fvib"}  # which hold the information term, or follow from it

# At their defaults the others weigh a hundred nats like one of cross-entropy, about β = 1: the code collapses to the
# prior (accuracy near chance) as it does for `uniform`. That is what they do, not a fault, and nothing is asserted.
LEARN = ["fixed", "target-rate", "mib", "mgda", "nash-mtl", "imtl-g", "aligned-mtl", "fairgrad", "famo"]

pytestmark = pytest.mark.filterwarnings("ignore:You are solving a parameterized problem")  # Nash-MTL's, from cvxpy


def spec(name: str) -> Any:
    if not find_spec(SOLVERS.get(name, "torchjd")):
        pytest.skip(f"{name} needs {SOLVERS[name]}, an extra of torchjd")
    return KINDS[name](**(FEW_SOLUTIONS | OF_TASKS).get(name, {}))


def grams(m: int, n: int, seed: int = 0) -> Tensor:
    g = torch.Generator().manual_seed(seed)
    rows = torch.randn(m, n, 5, generator=g) * torch.exp(0.5 * torch.randn(m, n, 1, generator=g))
    return rows @ rows.mT


def metrics(report: Any, name: str) -> dict[str, Any]:
    return {k: v for k, v in report.metrics[name].items() if k != "seconds"}


@pytest.mark.parametrize("name", [name for name in KINDS if name not in OF_TASKS])
def test_every_weighting_trains_alone_as_in_a_cohort(cohorts: Any, name: str) -> None:
    trials = [
        cohorts.trial(str(seed), spec(name), seed=seed, epochs=2, learning_rate=lr)
        for seed, lr in ((3, 1e-3), (7, 2e-3))
    ]
    # A network that is told β has other layers, so its neighbours are told it too.
    other = spec(name) if name in ("conditional", "fvib") else Mgda() if trials[0].weighting.needs_gram else Dwa()
    neighbour = cohorts.trial("neighbour", other, epochs=2)
    together = cohorts.reports([trials[0], neighbour, trials[1]])
    assert not any(r.failures for r in together)
    for trial in trials:
        for a, b in zip(cohorts.reports([trial]), together, strict=True):
            assert metrics(b, trial.id) == pytest.approx(metrics(a, trial.id), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", sorted(KINDS.keys() - OF_INFORMATION))
def test_every_weighting_trains_several_tasks(cohorts: Any, name: str) -> None:
    tasks = Multitask(auxiliaries=["rotation", "random-labels"])
    trials = [cohorts.trial(str(seed), spec(name), seed=seed, epochs=1)._replace(problem=tasks) for seed in (3, 7)]
    (together,) = cohorts.reports(trials)
    (alone,) = cohorts.reports(trials[:1])
    assert not together.failures and None not in together.metrics["7"].values()
    assert metrics(together, "3") == pytest.approx(metrics(alone, "3"), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("name", LEARN)
def test_what_should_learn_learns(cohorts: Any, name: str) -> None:
    trial = cohorts.trial("a", spec(name), epochs=12, learning_rate=3e-3)
    assert cohorts.reports([trial], every=12)[-1].metrics["a"]["accuracy"] > 0.5


def test_mgda_of_two_terms_is_our_min_norm_point() -> None:
    gram = grams(50, 2)
    w = build([Mgda(epsilon=1e-9)] * 50, SETTING)(torch.rand(50, 2), gram)
    torch.testing.assert_close(w, min_norm.exact(gram.double()).float(), atol=1e-3, rtol=0)


def test_mgda_of_four_terms_comes_near_our_min_norm_point_from_above() -> None:
    """torchjd takes Frank–Wolfe steps, which approach a point inside a face slowly."""
    gram = grams(50, 4).double()
    w = build([Mgda(epsilon=1e-9)] * 50, SETTING)(torch.rand(50, 4).double(), gram)
    theirs, ours = (torch.einsum("mi,mij,mj->m", v, gram, v) for v in (w, min_norm.exact(gram)))
    longest = gram.diagonal(dim1=1, dim2=2).amax(1)
    assert (theirs - ours > -1e-8 * longest).all() and (theirs - ours < 0.02 * longest).all()


RENAMED = ["mgda", "upgrad", "imtl-g", "aligned-mtl", "fairgrad", "cagrad", "nash-mtl", "dualproj", "config"]


@pytest.mark.parametrize("name", RENAMED)
def test_renaming_the_terms_renames_the_weights(name: str) -> None:
    gram, order = grams(10, 3), torch.tensor([2, 0, 1])
    specs = [spec(name)] * 10
    w = build(specs, THREE)(torch.rand(10, 3), gram)
    permuted = build(specs, THREE)(torch.rand(10, 3), gram[:, order][:, :, order])
    assert w.std(dim=1).max() > 0.01, "weights that are all equal would show nothing"
    torch.testing.assert_close(permuted, w[:, order], atol=2e-3, rtol=2e-3)


@pytest.mark.parametrize("name", ["upgrad", "dualproj", "config"])
def test_the_update_conflicts_with_no_term(name: str) -> None:
    gram = grams(30, 3)
    w = build([spec(name)] * 30, THREE)(torch.rand(30, 3), gram)
    along = torch.einsum("mij,mj->mi", gram, w)  # <g_i, update>
    assert (along / gram.diagonal(dim1=1, dim2=2).sum(1, keepdim=True) > -1e-3).all()
    assert (gram.mean(2) < 0).any(), "their mean does conflict"


def test_nash_mtl_solves_the_bargaining_equation() -> None:
    spec("nash-mtl")
    gram = grams(5, 2).double()
    w = build([NashMtl(max_norm=0.0)] * 5, SETTING)(torch.rand(5, 2).double(), gram)
    along = torch.einsum("mij,mj->mi", gram, w)  # Gα = 1/α
    torch.testing.assert_close(along * w, torch.ones_like(w), atol=0.05, rtol=0)


def scalarizers() -> list[Any]:
    return [
        pytest.param(Uw(), lambda: scalarization.UW(2), id="uw"),
        pytest.param(ImtlL(), lambda: scalarization.IMTLL(2), id="imtl-l"),
        pytest.param(Dwa(temperature=1.0), lambda: scalarization.DWA(1.0), id="dwa"),
        pytest.param(Famo(), lambda: scalarization.FAMO(2), id="famo"),
        pytest.param(Stch(mu=3.0), lambda: scalarization.STCH(3.0), id="stch"),
        pytest.param(
            Stch(mu=3.0, preference=0.1),
            lambda: scalarization.STCH(3.0, torch.tensor([0.9, 0.1])),
            id="stch-preference",
        ),
        pytest.param(GeometricMean(), scalarization.GeometricMean, id="geometric-mean"),
        pytest.param(
            Cosmos(penalty=8.0, preference=0.1),
            lambda: scalarization.COSMOS(8.0, torch.tensor([0.9, 0.1])),
            id="cosmos",
        ),
        pytest.param(Cosmos(), lambda: scalarization.COSMOS(1.0, torch.tensor([0.5, 0.5])), id="cosmos-equal"),
    ]


@pytest.mark.parametrize(("params", "make"), scalarizers())
def test_weights_of_a_scalarizer_are_its_gradient_as_its_own_example_trains_it(params: Any, make: Any) -> None:
    """Three epochs of two batches, as the docstrings of torchjd train each of them."""
    theirs = make()
    learned = list(theirs.parameters()) if isinstance(params, Uw | ImtlL) else []
    adam = torch.optim.Adam(learned, lr=params.learning_rate) if learned else None
    ours = build([params], SETTING._replace(batches=2))
    batches = torch.rand(6, 2, generator=torch.Generator().manual_seed(0)) * torch.tensor([2.0, 30.0]) + 0.1
    seen = []
    for step, losses in enumerate(batches):
        if isinstance(theirs, scalarization.FAMO) and step:
            theirs.update(losses)
        values = losses.clone().requires_grad_()
        theirs.zero_grad()
        theirs(values).backward()
        if adam is not None:
            adam.step()
        if isinstance(theirs, scalarization.DWA) and step % 2:
            theirs.step()
        seen.append(ours(losses[None], None)[0])
        torch.testing.assert_close(seen[-1], values.grad)
    assert not torch.allclose(seen[0], seen[-1]), "weights that never move would show nothing"


@pytest.mark.parametrize("kind", [Upgrad, AlignedMtl, Stch, Dualproj, Config])
def test_a_preference_is_the_information_terms_share(kind: Any) -> None:
    spec(kind.model_fields["name"].default)
    losses, gram = torch.ones(2, 2), torch.eye(2).expand(2, 2, 2)
    w = build([kind(preference=0.1), kind()], SETTING)(losses, gram)
    assert w[0, 1] / w[0].sum() < 0.15 and w[1, 1] / w[1].sum() == pytest.approx(0.5)
    three = build([kind(preference=0.1)], THREE)(torch.ones(1, 3), torch.eye(3)[None])[0]
    assert three[1] == pytest.approx(float(three[2])) and three[1] < three[0]


def test_a_group_of_a_mixed_cohort_draws_by_its_own_members_seeds() -> None:
    gram = grams(1, 3, seed=5).expand(6, 3, 3)
    specs: list[Mgda | Pcgrad] = [Mgda(), Mgda(), Mgda(), Pcgrad(), Mgda(), Pcgrad()]
    mixed = build(specs, THREE._replace(seeds=(3, 4, 5, 6, 7, 8)))
    alone = build([Pcgrad()] * 2, THREE._replace(seeds=(6, 8)))
    for _ in range(5):
        torch.testing.assert_close(mixed(torch.ones(6, 3), gram)[[3, 5]], alone(torch.ones(2, 3), gram[:2]))


def test_random_orders_depend_on_the_members_seed_and_nothing_else() -> None:
    gram = grams(1, 3, seed=5).expand(6, 3, 3)
    seeds = (3, 4, 5, 6, 7, 3)
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    together = build([Pcgrad()] * 6, THREE._replace(seeds=seeds))
    alone = [build([Pcgrad()], THREE._replace(seeds=(s,))) for s in seeds]
    rows = [together(torch.rand(6, 3, generator=torch.Generator()), gram) for _ in range(4)]
    for w in rows:
        torch.testing.assert_close(w, torch.cat([a(w, gram[:1]) for a in alone]))
    assert torch.equal(before, torch.random.get_rng_state())
    assert len({tuple(w) for row in rows for w in row.tolist()}) > 1, "orders that never matter would show nothing"


def test_a_failing_solver_fails_its_member_alone(
    cohorts: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    made = torchjd_adapter.MATRICES["mgda"]

    def make(p: Any, setting: Setting) -> Any:
        calls = iter(range(100))

        def fails_in_the_third_step(gram: Tensor) -> Tensor:
            if next(calls) == 2:
                raise ArithmeticError("no solution")
            return torch.ones(2)

        return fails_in_the_third_step if p.max_iters == 7 else made(p, setting)

    monkeypatch.setitem(torchjd_adapter.MATRICES, "mgda", make)
    good, bad = cohorts.trial("good", Mgda(), epochs=2), cohorts.trial("bad", Mgda(max_iters=7), epochs=2)
    with caplog.at_level(logging.WARNING):
        both = cohorts.reports([bad, good])
    assert "loss_pred became non-finite in epoch 1, step 4" in both[0].failures["bad"]
    assert [r.message for r in caplog.records if r.name == torchjd_adapter.__name__] == [
        "mgda failed for member 0 in step 3: no solution"
    ]
    for a, b in zip(cohorts.reports([good]), both, strict=True):
        assert metrics(b, "good") == pytest.approx(metrics(a, "good"), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", [n for n, kind in KINDS.items() if hasattr(kind, "adapter")])
def test_a_member_without_numbers_does_not_touch_the_others(name: str) -> None:
    losses, g = torch.tensor([[1.0, 9.0]] * 3), torch.randn(1, 2, 5, generator=torch.Generator()).repeat(3, 1, 1)
    losses[1], g[1] = torch.nan, torch.inf
    weighting = build([spec(name)] * 3, SETTING)
    w = weighting(losses, weighting.gram(g, g / 2))
    assert w[1].isnan().all() and w[[0, 2]].isfinite().all()


def test_torchjd_is_loaded_only_by_those_who_use_it() -> None:
    code = """
import sys, torch
from service.contract.methods.weightings import Fixed, Mib, Uw
from workers.training import loop
from workers.weightings import Setting, build
setting = Setting(("pred", "info"), 16, torch.device("cpu"))
build([Fixed(), Mib()], setting)
assert "torchjd" not in sys.modules
build([Uw()], setting)(torch.ones(1, 2), None)
assert "torchjd" in sys.modules and "torch._dynamo" not in sys.modules
"""
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert answer.returncode == 0, answer.stderr
