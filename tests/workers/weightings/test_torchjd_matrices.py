"""torchjd's weightings that remember, or read more than the Gram matrix: torchjd's numbers, batch by batch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torchjd import aggregation, scalarization

from service.contract.methods import weightings as specs
from tests.workers.weightings.test_torchjd_weightings import CPU, spec
from workers.data.random_streams import generator
from workers.weightings import Setting, build

STEPS = 6
SETTING = Setting(("a", "b", "c"), 16, CPU, seeds=(3, 4), batches=2, epochs=3)

# Ours, torchjd's, and what of the gradients [n, P] and those of half the batch it reads.
METHODS: dict[str, tuple[Any, Any, Any]] = {
    "gradvac": (specs.Gradvac(beta=0.3), lambda: aggregation.GradVacWeighting(0.3), lambda g, a: g @ g.T),
    "pcd": (
        specs.Pcd(tau=0.4, decay=0.5),
        lambda: aggregation.PCDWeighting(0.4, 0.5),
        lambda g, a: g @ g.T,
    ),
    "cr-mogm": (
        specs.CrMogm(smoothing=0.7),
        lambda: aggregation.CRMOGMWeighting(aggregation.MGDAWeighting(), 0.7),
        lambda g, a: g @ g.T,
    ),
    "cr-mogm-pcgrad": (
        specs.CrMogm(method="pcgrad"),
        lambda: aggregation.CRMOGMWeighting(aggregation.PCGradWeighting(), 0.9),
        lambda g, a: g @ g.T,
    ),
    "modo": (
        specs.Modo(learning_rate=0.02, rho=0.4),
        lambda: aggregation.MoDoWeighting(0.02, 0.4),
        lambda g, a: (2 * a) @ (2 * (g - a)).T,
    ),
    "sdmgrad": (
        specs.Sdmgrad(pull=0.6, preference=0.5, learning_rate=0.02, momentum=0.2, steps=4),
        lambda: aggregation.SDMGradWeighting(0.02, 0.2, 4, 0.6, torch.tensor([0.5, 0.25, 0.25]).double()),
        lambda g, a: (2 * a) @ (2 * (g - a)).T,
    ),
    "excess-mtl": (
        specs.ExcessMtl(step_size=0.2, warm_up=1),
        lambda: aggregation.ExcessMTLWeighting(0.2, 2),
        lambda g, a: g,
    ),
    "excess-mtl-at-once": (
        specs.ExcessMtl(step_size=0.01, warm_up=0),
        lambda: aggregation.ExcessMTLWeighting(0.01, 0),
        lambda g, a: g,
    ),
}


def batches(members: int) -> list[tuple[Tensor, Tensor]]:
    """Gradients and the part of them that half the batch gives, [m, 3, 5] each."""
    g = torch.Generator().manual_seed(1)
    parts = [torch.randn(2, members, 3, 5, generator=g).double() for _ in range(STEPS)]
    return [(both.sum(0), both[0]) for both in parts]


@pytest.mark.parametrize(("params", "make", "reads"), METHODS.values(), ids=METHODS)
def test_every_step_is_torchjds_for_each_member(params: Any, make: Any, reads: Any) -> None:
    ours, theirs = build([params] * 2, SETTING), [make(), make()]
    seen = []
    for step, (g, a) in enumerate(batches(2)):
        w = ours(torch.ones(2, 3).double(), ours.gram(g, a))
        for k, method in enumerate(theirs):
            torch.random.set_rng_state(generator(SETTING.seeds[k], f"weighting/{step}").get_state())
            torch.testing.assert_close(w[k], method(reads(g[k], a[k])))
        seen.append(w)
    assert not torch.allclose(seen[0], seen[-1]), "weights that never move would show nothing"
    usual = build([type(params)()] * 2, SETTING)
    told = [usual(torch.ones(2, 3).double(), usual.gram(g, a)) for g, a in batches(2)]
    assert not torch.allclose(told[-1], seen[-1]), "parameters that change nothing would show nothing"


@pytest.mark.parametrize("params", [row[0] for row in METHODS.values()], ids=METHODS)
def test_what_it_remembers_is_all_it_needs_to_go_on(params: Any) -> None:
    straight, left = build([params] * 2, SETTING), build([params] * 2, SETTING)
    for g, a in batches(2)[:3]:
        for weighting in (straight, left):
            weighting(torch.ones(2, 3).double(), weighting.gram(g, a))
    later = build([params] * 2, SETTING)
    later.load({name: tensor.clone() for name, tensor in left.state().items()})
    rows = [[w(torch.ones(2, 3).double(), w.gram(g, a)) for g, a in batches(2)[3:]] for w in (straight, later)]
    one, other = map(torch.stack, rows)
    assert one.shape == (STEPS - 3, 2, 3) and torch.equal(one, other)


def test_dualproj_is_the_nearest_direction_without_conflict() -> None:
    """Of all updates with <g_i, x> ≥ 0 none is nearer to the mean: optimality conditions of the projection, to the
    slack of its regularisation."""
    spec("dualproj")
    furthest = 0.0
    for g, _ in batches(2):
        gram = g @ g.mT
        w = build([specs.Dualproj()] * 2, SETTING)(torch.ones(2, 3).double(), gram)
        along = torch.einsum("mij,mj->mi", gram, w) / gram.diagonal(dim1=1, dim2=2).amax(1, keepdim=True)
        moved = w - 1 / 3
        assert (moved > -1e-9).all() and (along > -2e-4).all()
        torch.testing.assert_close(moved * along, torch.zeros(2, 3).double(), atol=1e-4, rtol=0)
        furthest = max(furthest, float(moved.max()))
    assert furthest > 0.05, "gradients that agree would show nothing"


def test_half_batches_of_equal_noise_free_gradients_are_the_gram_matrix() -> None:
    g = batches(2)[0][0]
    weighting = build([specs.Modo()] * 2, SETTING)
    torch.testing.assert_close(weighting.gram(g, g / 2), g @ g.mT)


def test_random_weights_depend_on_seed_and_step_alone() -> None:
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    together = build([specs.Random()] * 3, SETTING._replace(seeds=(3, 4, 3)))
    alone = build([specs.Random()], SETTING._replace(seeds=(4,)))
    rows = [together(torch.rand(3, 3, generator=torch.Generator()), None) for _ in range(400)]
    for w in rows:
        torch.testing.assert_close(w[1], alone(torch.ones(1, 3), None)[0])
        torch.testing.assert_close(w.sum(1), torch.ones(3))
        assert torch.equal(w[0], w[2]) and not torch.equal(w[0], w[1])
    assert torch.equal(before, torch.random.get_rng_state())
    logits = torch.stack(rows)[:, 0].log()  # differences of two standard normal numbers: variance 2
    assert (logits[:, 0] - logits[:, 1]).var() == pytest.approx(2, rel=0.3)


def test_a_loss_below_zero_has_no_geometric_mean_and_its_member_fails_alone() -> None:
    w = build([specs.GeometricMean()] * 2, SETTING)(torch.tensor([[1.0, -1.0, 2.0], [1.0, 1.0, 2.0]]), None)
    assert w[0].isnan().all() and w[1].isfinite().all()


@pytest.mark.parametrize(
    ("params", "theta", "ray"),
    [(specs.Pbi(), 5.0, [1.0, 1.0, 1.0]), (specs.Pbi(theta=0.5, preference=0.2), 0.5, [0.8, 0.1, 0.1])],
)
def test_pbi_is_the_gradient_of_torchjds(params: specs.Pbi, theta: float, ray: list[float]) -> None:
    """Of three losses: those of two have the same weights everywhere on one side of the ray."""
    losses = (torch.rand(4, 3, generator=torch.Generator().manual_seed(0)) + 0.1).requires_grad_()
    for row in losses:
        scalarization.PBI(theta, torch.tensor(ray))(row).backward()
    w = build([params] * 4, SETTING._replace(seeds=(1, 2, 3, 4)))(losses.detach(), None)
    torch.testing.assert_close(w, losses.grad, atol=1e-5, rtol=1e-5)
    assert w.std(dim=0).min() > 1e-3
