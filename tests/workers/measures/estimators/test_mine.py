"""The Donsker–Varadhan bound: its formula, what it never sees, what it is worth."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from workers.data.random_streams import Seeds
from workers.measures.estimators import mine
from workers.measures.estimators.samples.codes import Codes
from workers.models.components.layers import forward, layers

CPU = torch.device("cpu")


def _codes(size: float, count: int = 400, seeds: tuple[int, ...] = (0,)) -> Codes:
    """Z = size · X + ε in one dimension: I = ½ ln(1 + size²)."""
    g = torch.Generator().manual_seed(1)
    x, noise = (torch.randn(count, 1, generator=g, dtype=torch.float64) for _ in range(2))
    mean = (size * x).expand(len(seeds), count, 1)
    return Codes(x[None], mean, torch.ones_like(mean), noise.expand_as(mean), Seeds(seeds, CPU))


def _critic(members: int) -> list[Tensor]:
    stack = layers([5, 8, 1], Seeds(range(members), CPU), "test")
    return [3 * leaf.detach().double() for leaf in stack.leaves]


def test_the_bound_is_that_of_all_pairs_of_different_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mine, "ENTRIES", 2 * 20 * 64 * 3)  # blocks of three shifts
    g = torch.Generator().manual_seed(0)
    x, z = torch.randn(20, 3, generator=g).double(), torch.randn(2, 20, 2, generator=g).double()
    leaves = _critic(2)
    grid = torch.cat((x[:, None].expand(2, 20, 20, 3), z[:, None].expand(2, 20, 20, 2)), dim=-1)  # [K, i, j]
    t = forward(leaves, grid.flatten(1, 2)).view(2, 20, 20)
    for cap in (math.inf, 0.1):
        capped = t.clamp_max(cap)
        others = capped[:, ~torch.eye(20, dtype=torch.bool)]
        expected = capped.diagonal(dim1=1, dim2=2).mean(1) - others.exp().mean(1).log()
        found = mine._bound(leaves, mine.Pairs(x, z), 500, torch.full((2,), cap, dtype=torch.float64))
        torch.testing.assert_close(found, expected)


def _changed_from(codes: Codes, place: int) -> Codes:
    """Other pairs from this place on, with the opposite relation."""
    other = codes._replace(x=codes.x.clone(), mean=codes.mean.clone(), noise=codes.noise.clone())
    other.x[:, place:] *= 2
    other.mean[:, place:] *= -1
    other.noise[:, place:] = 0
    return other


class _Looks:
    """Notes the critic and the cap of each measurement, and how many points each look at the bound had."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, told: float | None = None) -> None:
        self.critics: list[Tensor] = []
        self.caps: list[Tensor] = []
        self.choices: list[Tensor] = []  # the codes that chose the step
        self._true, self._told = mine._bound, told
        monkeypatch.setattr(mine, "STEPS", 60)
        monkeypatch.setattr(mine, "CHECK", 10)
        monkeypatch.setattr(mine, "_bound", self)

    def __call__(self, leaves: list[Tensor], pairs: mine.Pairs, most: int, cap: Tensor | None = None) -> Tensor:
        if cap is not None:
            self.critics.append(torch.cat([leaf.detach().flatten() for leaf in leaves]))
            self.caps.append(cap)
        else:
            self.choices.append(pairs.z)
            if self._told is not None:
                return torch.full_like(pairs.z[:, 0, 0], self._told)
        return self._true(leaves, pairs, most, cap)


def test_the_critic_does_not_see_the_points_it_is_measured_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Change the last quarter: the critic and its cap stay, the bound does not."""
    looks, codes = _Looks(monkeypatch), _codes(3.0)
    values = [mine.mine(c).item() for c in (codes, _changed_from(codes, 300))]
    torch.testing.assert_close(*looks.critics, rtol=0, atol=0)
    torch.testing.assert_close(*looks.caps, rtol=0, atol=0)
    assert looks.critics[0].any() and values[0] != values[1]


def test_the_points_that_choose_a_step_neither_train_nor_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """When all steps are told to be alike, the other points choose nothing: then the first half alone decides."""
    looks, codes = _Looks(monkeypatch, told=0.5), _codes(3.0)
    for given in (codes, _changed_from(codes, 200)):
        mine.mine(given)
    torch.testing.assert_close(*looks.critics, rtol=0, atol=0)
    assert not torch.equal(*looks.caps), "the cap is of the quarter that chooses"
    assert len(looks.choices) == 12 and {z.shape[1] for z in looks.choices} == {100}


def test_no_information_gives_no_bound_worth_the_name() -> None:
    assert mine.mine(_codes(0.0)).abs().item() < 0.03


def test_same_seed_same_value_other_seed_another_critic() -> None:
    first, again, other = mine.mine(_codes(2.0, seeds=(0, 0, 1))).tolist()
    exact = 0.5 * math.log(5)
    assert first == again != other
    assert first == pytest.approx(other, abs=0.1)
    assert first == pytest.approx(exact, abs=0.25)


def test_units_of_inputs_and_codes_do_not_matter() -> None:
    codes = _codes(2.0)
    vast = codes._replace(x=codes.x * 1e9, mean=codes.mean * 1e-9, scale=codes.scale * 1e-9)
    torch.testing.assert_close(mine.mine(vast), mine.mine(codes), rtol=0, atol=1e-3)
