"""Draws depend on seed and stream alone."""

from __future__ import annotations

import torch

from workers.data.streams import Seeds

CPU = torch.device("cpu")


def normal(generator: torch.Generator) -> torch.Tensor:
    return torch.randn(4, generator=generator)


def test_a_member_draws_the_same_in_any_cohort() -> None:
    mixed, alone = Seeds([5, 9, 5, 2], CPU), Seeds([9], CPU)
    together = mixed.spread(mixed.draw("noise/1", normal))
    assert torch.equal(together[1], alone.draw("noise/1", normal)[0])
    assert torch.equal(together[0], together[2])
    assert not torch.equal(together[0], together[1])


def test_streams_of_a_seed_are_independent() -> None:
    seeds = Seeds([0], CPU)
    assert not torch.equal(seeds.draw("noise/1", normal), seeds.draw("noise/2", normal))


def test_equal_seeds_are_spread_without_a_copy() -> None:
    seeds = Seeds([3, 3, 3], CPU)
    drawn = seeds.draw("x", normal)
    assert seeds.spread(drawn).data_ptr() == drawn.data_ptr()
    assert seeds.spread(drawn).shape == (3, 4)
