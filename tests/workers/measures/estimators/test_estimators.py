"""What holds for every estimator of I(X;Z) that a study may name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from service.contract.catalog import catalog
from service.contract.methods.weightings import Fixed
from service.contract.metrics import ESTIMATOR_METRICS
from service.contract.metrics.estimators import ESTIMATOR_NAMES, KINDS
from service.contract.study.study import Evaluation
from workers.data.random_streams import Seeds
from workers.measures import estimators
from workers.measures.estimators import mine
from workers.measures.estimators.samples.codes import Codes

Estimate = Callable[[Codes], Tensor]
each = pytest.mark.parametrize("estimate", estimators.ESTIMATORS.values(), ids=estimators.ESTIMATORS.keys())


def codes(seeds: list[int], count: int = 120, size: float = 1.0, own: bool = False) -> Codes:
    """Inputs of 3 dimensions, which each member may have of its own, codes of 2; equal seeds share their noise."""
    g = torch.Generator().manual_seed(0)
    cohort = Seeds(seeds, torch.device("cpu"))
    x = torch.randn(len(seeds) if own else 1, count, 3, generator=g, dtype=torch.float64)
    mean = size * torch.tanh(x @ torch.randn(len(seeds), 3, 2, generator=g, dtype=torch.float64))
    scale = 0.2 + torch.rand(mean.shape, generator=g, dtype=torch.float64)
    noise = cohort.spread(cohort.draw("noise", lambda g: torch.randn(count, 2, generator=g))).double()
    return Codes(x, mean, scale, noise, cohort)


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mine, "STEPS", 60)
    monkeypatch.setattr(mine, "CHECK", 20)


def test_workers_metrics_and_catalog_know_the_estimators_of_the_contract() -> None:
    assert set(estimators.ESTIMATORS) == set(ESTIMATOR_NAMES)
    asked = Evaluation(estimators=list(ESTIMATOR_NAMES))
    assert asked.estimator_metrics == list(ESTIMATOR_METRICS)
    listed = {entry.name: entry for entry in catalog([]).estimators}
    assert set(listed) == {"marginal-kl", "prior-kl", "cross-entropy", *ESTIMATOR_NAMES}
    for name in ESTIMATOR_NAMES:
        assert ESTIMATOR_METRICS[f"i_xz_{name}_bits"].doc.startswith(KINDS[listed[name].kind])


@each
@pytest.mark.parametrize("own", [False, True])
def test_a_member_has_the_value_it_has_alone(estimate: Estimate, own: bool) -> None:
    seeds = [3, 7, 3, 9, 7]
    cohort = codes(seeds, size=3.0, own=own)
    together = estimate(cohort)
    assert together.shape == (5,) and len(set(together.tolist())) == 5
    for k, seed in enumerate(seeds):
        mean, scale, noise = (t[k : k + 1] for t in cohort[1:4])
        x = cohort.x[k : k + 1] if own else cohort.x
        alone = estimate(Codes(x, mean, scale, noise, Seeds([seed], torch.device("cpu"))))
        torch.testing.assert_close(alone, together[k : k + 1], rtol=1e-8, atol=1e-10)


@each
def test_a_broken_member_does_not_touch_the_others(estimate: Estimate) -> None:
    whole = codes([1, 2, 3])
    broken = whole._replace(mean=whole.mean.clone())
    broken.mean[1] = torch.nan
    found = estimate(broken)
    assert found.isnan().tolist() == [False, True, False]
    torch.testing.assert_close(found[::2], estimate(whole)[::2], rtol=1e-8, atol=1e-10)


@each
@pytest.mark.parametrize("count", [2, 3, 4, 7, 8, 9])
def test_a_handful_of_points_gives_a_finite_number(estimate: Estimate, count: int) -> None:
    assert estimate(codes([1, 2], count)).isfinite().all()


@each
@pytest.mark.parametrize("count", [7, 60])
def test_equal_codes_and_equal_inputs_carry_nothing(estimate: Estimate, count: int) -> None:
    whole = codes([1, 2], count)
    flat = whole._replace(
        x=torch.ones_like(whole.x), mean=torch.ones_like(whole.mean), scale=torch.full_like(whole.scale, 0.3)
    )
    torch.testing.assert_close(estimate(flat), torch.zeros(2, dtype=torch.float64), rtol=0, atol=1e-9)


def test_a_study_may_ask_for_all_of_them(cohorts: Any) -> None:
    trials = [cohorts.trial(name, Fixed(beta=beta), epochs=3) for name, beta in (("free", 0.0), ("tight", 1.0))]
    last = cohorts.reports(trials, every=3, estimators=list(ESTIMATOR_NAMES), estimator_samples=200)[-1].metrics
    for name in ESTIMATOR_NAMES:
        free, tight = (last[trial][f"i_xz_{name}_bits"] for trial in ("free", "tight"))
        assert free > tight, f"{name}: the code without compression carries more"
    assert last["free"]["estimator_samples"] == 200
