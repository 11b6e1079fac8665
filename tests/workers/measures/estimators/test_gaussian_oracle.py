"""Every estimator against jointly Gaussian pairs, whose information is known.

`pytest -s` prints the table of means over draws, each with its standard error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from service.contract.metrics.estimators import ESTIMATOR_NAMES, ESTIMATORS
from workers.data.random_streams import Seeds
from workers.measures import estimators
from workers.measures.estimators.samples.codes import Codes
from workers.measures.marginal import fit
from workers.models.components.latent_code import Code
from workers.problems.rates import kl_to_prior

TRUTHS = (1.0, 2.0, 4.0)  # nats, one member each
POINTS, DIMENSIONS, DRAWS = 2000, 2, 5
BEST_WITHIN = 0.05  # of the truth
ASKED = [name for name in ESTIMATORS if name in ("marginal-kl", "prior-kl", *ESTIMATOR_NAMES)]


class Found(NamedTuple):
    mean: float
    error: float  # standard error of the mean over draws


def _codes(seed: int) -> Codes:
    """Z = ρRX + √(1 − ρ²)ε with a rotation R: I = −½ Σ_d ln(1 − ρ²), and Z is standard normal like the prior."""
    g = torch.Generator().manual_seed(seed)
    x, noise = (torch.randn(POINTS, DIMENSIONS, generator=g, dtype=torch.float64) for _ in range(2))
    quiet = torch.tensor(TRUTHS, dtype=torch.float64).mul(-2 / DIMENSIONS).exp()[:, None, None]  # 1 − ρ²
    cos, sin = math.cos(0.5), math.sin(0.5)
    mean = (1 - quiet).sqrt() * (x @ torch.tensor([[cos, sin], [-sin, cos]], dtype=torch.float64))
    members = len(TRUTHS)
    seeds = Seeds([seed] * members, torch.device("cpu"))
    return Codes(x[None], mean, quiet.sqrt().expand_as(mean), noise.expand_as(mean), seeds)


def _nats(name: str, codes: Codes) -> Tensor:
    if name == "prior-kl":
        return kl_to_prior(Code(codes.mean, codes.scale)).mean(1)
    if name == "marginal-kl":
        half = POINTS // 2
        others = codes.x[:, :half].expand(len(codes.mean), -1, -1)
        r = fit(Code(codes.mean[:, :half], codes.scale[:, :half]), others)
        return r.nats(Code(codes.mean[:, half:], codes.scale[:, half:])).mean(1)
    return next(found for key, found in estimators.ESTIMATORS.items() if key == name)(codes)


@pytest.fixture(scope="module")
def table() -> Iterator[dict[str, list[Found]]]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    draws = [_codes(seed) for seed in range(DRAWS)]
    found = {}
    print(
        f"\n| estimator | kind | N | {' | '.join(f'{truth:g} nats' for truth in TRUTHS)} |\n|---|---|---|---|---|---|"
    )
    for name in ASKED:
        values = torch.stack([_nats(name, codes) for codes in draws])  # [draws, K]
        columns = zip(values.mean(0).tolist(), (values.std(0) / math.sqrt(DRAWS)).tolist(), strict=True)
        found[name] = [Found(*column) for column in columns]
        cells = " | ".join(f"{mean:.3f} ± {error:.3f}" for mean, error in found[name])
        print(f"| {name} | {ESTIMATORS[name].kind} | {POINTS} | {cells} |")
    yield found
    torch.set_num_threads(threads)


@pytest.mark.parametrize("nats", TRUTHS)
@pytest.mark.parametrize("name", [name for name in ASKED if ESTIMATORS[name].kind == "lower"])
def test_a_lower_bound_is_below_the_truth(table: dict[str, list[Found]], name: str, nats: float) -> None:
    found = table[name][TRUTHS.index(nats)]
    assert 0 < found.mean < nats + 3 * found.error


@pytest.mark.parametrize("nats", TRUTHS)
@pytest.mark.parametrize("name", [name for name in ASKED if ESTIMATORS[name].kind == "upper"])
def test_an_upper_bound_is_above_the_truth(table: dict[str, list[Found]], name: str, nats: float) -> None:
    found = table[name][TRUTHS.index(nats)]
    assert found.mean > nats - 3 * found.error


@pytest.mark.parametrize("nats", TRUTHS)
@pytest.mark.parametrize(
    ("name", "share"),
    [("marginal-kl", 0.02), ("prior-kl", 0.02), ("infonce", 0.05), ("mine", 0.1), ("ksg", 0.06)],
    ids=str,
)
def test_an_estimator_is_near_the_truth(table: dict[str, list[Found]], name: str, share: float, nats: float) -> None:
    assert table[name][TRUTHS.index(nats)].mean == pytest.approx(nats, rel=share)


def test_the_best_estimator_is_within_five_percent(table: dict[str, list[Found]]) -> None:
    """Also without the prior, which a trained code need not match."""
    for i, nats in enumerate(TRUTHS):
        misses = {name: abs(column[i].mean / nats - 1) for name, column in table.items() if name != "prior-kl"}
        assert min(misses.values()) < BEST_WITHIN, misses
