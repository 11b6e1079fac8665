"""Draws depend on seed and stream alone."""

from __future__ import annotations

import pytest
import torch

from workers.data import random_streams
from workers.data.random_streams import Seeds

CPU = torch.device("cpu")


def normal(generator: torch.Generator) -> torch.Tensor:
    return torch.randn(4, generator=generator)


def test_a_member_draws_the_same_in_any_cohort() -> None:
    mixed, alone = Seeds([5, 9, 5, 2], CPU), Seeds([9], CPU)
    together = mixed.spread(mixed.draw("noise/1", normal))
    assert torch.equal(together[1], alone.draw("noise/1", normal)[0])
    assert torch.equal(together[0], together[2])
    assert not torch.equal(together[0], together[1])


@pytest.mark.parametrize("seeds", [[2, 0, 1], [9, 3], [7, 7, 1, 1, 4], [4]])
def test_every_member_has_the_draws_of_its_own_seed_in_whatever_order_they_stand(seeds: list[int]) -> None:
    cohort = Seeds(seeds, CPU)
    together = cohort.spread(cohort.draw("noise/1", normal))
    assert len(together) == cohort.members == len(seeds)
    for own, seed in zip(together, seeds, strict=True):
        assert torch.equal(own, Seeds([seed], CPU).draw("noise/1", normal)[0])


def test_streams_of_a_seed_are_independent() -> None:
    seeds = Seeds([0], CPU)
    assert not torch.equal(seeds.draw("noise/1", normal), seeds.draw("noise/2", normal))


def test_equal_seeds_are_spread_without_a_copy() -> None:
    seeds = Seeds([3, 3, 3], CPU)
    drawn = seeds.draw("x", normal)
    assert seeds.spread(drawn).data_ptr() == drawn.data_ptr()
    assert seeds.spread(drawn).shape == (3, 4)


def test_noise_is_the_same_whether_it_was_kept_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_streams, "KEPT", 2 * 5 * 3)
    seeds = Seeds([3, 1], torch.device("cpu"))
    for _ in range(2):
        for stream in ("first", "second"):
            fresh = seeds.draw(stream, lambda g: torch.randn(5, 3, generator=g))
            assert seeds.noise(stream, 5, 3).equal(fresh)
    assert seeds.noise("first", 5, 3) is seeds.noise("first", 5, 3)
    assert seeds.noise("second", 5, 3) is not seeds.noise("second", 5, 3), "there is no room for it"
    assert seeds.noise("first", 4, 3).shape == (2, 4, 3)
