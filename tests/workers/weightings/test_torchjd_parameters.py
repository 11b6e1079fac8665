"""Every parameter of a study reaches torchjd's method under its own name, and state belongs to a member's step."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torchjd import aggregation, scalarization

from service.contract.methods import weightings as specs
from tests.workers.weightings.test_torchjd_weightings import THREE, grams
from workers.weightings import build, torchjd_adapter

pytestmark = pytest.mark.filterwarnings("ignore:You are solving a parameterized problem")  # Nash-MTL's, from cvxpy

GRAMIANS: dict[str, tuple[Any, Any]] = {
    "mgda-steps": (specs.Mgda(max_iters=2, epsilon=1e-9), lambda: aggregation.MGDAWeighting(1e-9, 2)),
    "mgda-epsilon": (specs.Mgda(epsilon=0.3), lambda: aggregation.MGDAWeighting(0.3, 100)),
    "cagrad": (specs.Cagrad(c=0.9, norm_eps=0.5), lambda: aggregation.CAGradWeighting(0.9, 0.5)),
    "fairgrad": (specs.Fairgrad(alpha=2.0, max_iters=3), lambda: aggregation.FairGradWeighting(2.0, 3)),
    "aligned-mtl": (specs.AlignedMtl(scale_mode="rmse"), lambda: aggregation.AlignedMTLWeighting(None, "rmse")),
    "aligned-preference": (
        specs.AlignedMtl(preference=0.4),
        lambda: aggregation.AlignedMTLWeighting(torch.tensor([0.6, 0.2, 0.2]).double()),
    ),
    "upgrad": (
        specs.Upgrad(preference=0.4),
        lambda: aggregation.UPGradWeighting(torch.tensor([0.6, 0.2, 0.2]).double()),
    ),
}


@pytest.mark.parametrize(("params", "make"), GRAMIANS.values(), ids=GRAMIANS)
def test_a_method_of_the_gram_matrix_gets_the_parameters_of_the_study(params: Any, make: Any) -> None:
    gram = grams(6, 3, seed=3)
    found = build([params] * 6, THREE)(torch.ones(6, 3).double(), gram.double())
    torch.testing.assert_close(found, torch.stack([make()(one) for one in gram.double()]))
    usual = build([type(params)()] * 6, THREE)(torch.ones(6, 3).double(), gram.double())
    assert not torch.allclose(found, usual), "a parameter that changes nothing would show nothing"


def test_nash_mtl_gets_its_parameters_in_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[Any, ...]] = []

    class Stand:
        weighting = aggregation.MGDAWeighting()

        def __init__(self, *values: Any) -> None:
            given.append(values)

    monkeypatch.setattr(aggregation, "NashMTL", Stand)
    build([specs.NashMtl(max_norm=3.0, update_weights_every=7, optim_niter=4)], THREE)
    assert given == [(3, 3.0, 7, 4)]


def test_famo_gets_its_rate_and_its_decay() -> None:
    losses = torch.tensor([[1.0, 9.0, 3.0], [0.5, 9.5, 1.0], [2.0, 1.0, 1.0]])
    ours = build([specs.Famo(learning_rate=0.5, weight_decay=0.2)], THREE)
    theirs = scalarization.FAMO(3, lr=0.5, weight_decay=0.2)
    weights = []
    gradients = []
    for step, row in enumerate(losses):
        if step:
            theirs.update(row)
        values = row.clone().requires_grad_()
        theirs(values).backward()
        weights.append(ours(row[None], None)[0])
        gradients.append(values.grad)
    assert len(weights) == 3
    torch.testing.assert_close(weights, gradients)


def test_a_random_order_is_drawn_anew_in_each_step() -> None:
    gram = grams(1, 3, seed=5)
    pcgrad = build([specs.Pcgrad()], THREE._replace(seeds=(3,)))
    rows = {tuple(pcgrad(torch.ones(1, 3), gram)[0].tolist()) for _ in range(12)}
    assert len(rows) > 1


def test_the_preference_of_four_terms_is_shared_by_all_but_the_first() -> None:
    four = THREE._replace(terms=("a", "b", "c", "d"))
    preference = torchjd_adapter._preference(specs.Stch(preference=0.3), four)
    assert preference is not None and preference.tolist() == pytest.approx([0.7, 0.1, 0.1, 0.1])
    assert torchjd_adapter._preference(specs.Stch(), four) is None
