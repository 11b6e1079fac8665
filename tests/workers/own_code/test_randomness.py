"""Random numbers inside a user's losses."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.func import vmap
from torch.nn import functional as F

from workers.data.random_streams import Seeds, generator
from workers.own_code.answers import Answered
from workers.own_code.randomness import DRAWN, Noise, Request, Unprepared, seeded

CPU = torch.device("cpu")
ROWS = 4


def noise(seeds: tuple[int, ...] = (0, 1), count: int = 12) -> Noise:
    own = Noise(Seeds(seeds, CPU), "noise/1", count, [])
    own.move(1, slice(ROWS, 2 * ROWS))
    return own


X = torch.rand(ROWS, 3)
FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "randn_like": torch.randn_like,
    "rand_like": torch.rand_like,
    "randn": lambda x: torch.randn(x.shape),
    "rand": lambda x: torch.rand(*x.shape),
    "normal of tensors": lambda x: torch.normal(x, x),
    "normal of a tensor and a number": lambda x: torch.normal(x, 2.0),
    "normal of a size": lambda x: torch.normal(1.0, 2.0, size=(ROWS, 2)),
    "bernoulli": torch.bernoulli,
    "normal in place": lambda x: torch.empty(ROWS, 2).normal_(1.0, 2.0),
    "uniform in place": lambda x: torch.empty_like(x).uniform_(-1, 1),
    "bernoulli in place": lambda x: torch.empty_like(x).bernoulli_(0.3),
    "exponential in place": lambda x: torch.empty_like(x).exponential_(),
    "dropout": lambda x: F.dropout(x, 0.4),
    "dropout of channels": lambda x: F.dropout2d(x[:, :, None, None].expand(ROWS, 3, 2, 2), 0.4),
    "Normal": lambda x: torch.distributions.Normal(x, 1.0, validate_args=False).rsample(),
    "Uniform": lambda x: torch.distributions.Uniform(x, x + 1, validate_args=False).rsample(),
    "Bernoulli": lambda x: torch.distributions.Bernoulli(x, validate_args=False).sample(),
    "not of the batch's rows": lambda x: torch.randn(7),
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_stacked_members_get_the_numbers_that_each_gets_alone(function: Callable[[Tensor], Tensor]) -> None:
    asked = noise()
    alone = []
    for draw in (0, 1):
        asked.begin(draw)
        with Answered(asked, draw):
            alone.append(function(X))
    assert not torch.equal(alone[0], alone[1])

    def one(member: Tensor, x: Tensor) -> Tensor:
        with Answered(asked, member):
            return function(x)

    asked.begin()
    together = vmap(one, randomness="error")(torch.arange(2), X.expand(2, *X.shape))
    torch.testing.assert_close(together, torch.stack(alone))


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_numbers_have_the_distribution_that_was_asked_for(function: Callable[[Tensor], Tensor]) -> None:
    """Means of many draws, against torch's own."""
    own = []
    for seed in range(600):
        asked = noise((seed,))
        asked.begin(0)
        with Answered(asked, 0):
            own.append(function(X))
    torch.manual_seed(0)
    theirs = torch.stack([function(X) for _ in range(600)])
    mine = torch.stack(own)
    error = 5 * theirs.std(0).clamp_min(0.05) / 600**0.5 * 2**0.5
    assert mine.shape == theirs.shape and mine.dtype == theirs.dtype
    assert ((mine.mean(0) - theirs.mean(0)).abs() < error).all()


def test_noise_of_the_batchs_rows_is_that_of_the_built_in_problems() -> None:
    """Drawn for all examples of the epoch, read where the batch is."""
    asked = noise()
    asked.begin(1)
    with Answered(asked, 1):
        own = torch.randn_like(X), torch.randn_like(X)
    epoch = torch.randn(12, 3, generator=generator(1, "noise/1"))
    assert torch.equal(own[0], epoch[ROWS : 2 * ROWS]) and not torch.equal(own[0], own[1])
    assert asked.asked == [Request("normal", True, (3,))] * 2


def test_noise_that_is_large_is_drawn_step_by_step() -> None:
    asked = noise(count=DRAWN["normal"])
    asked.begin(0)
    with Answered(asked, 0):
        first = torch.randn_like(X)
    asked.move(2, slice(ROWS))
    asked.begin(0)
    with Answered(asked, 0):
        assert not torch.equal(first, torch.randn_like(X))
    assert asked.asked == [Request("normal", False, (ROWS, 3))]


def test_every_request_of_a_step_has_numbers_of_its_own_and_so_has_every_step() -> None:
    """Those that are not of the batch's rows too, the same at every run of the same step."""
    asked = noise()

    def drawn(step: int) -> list[Tensor]:
        asked.move(step, slice(ROWS))
        asked.begin(0)
        with Answered(asked, 0):
            return [torch.randn(7) for _ in range(3)]

    first, second, again = drawn(1), drawn(2), drawn(1)
    rows = {tuple(each.tolist()) for each in [*first, *second]}
    assert len(rows) == 6 and all(map(torch.equal, first, again))


def test_what_was_not_asked_for_before_cannot_be_drawn_while_stacked() -> None:
    asked = noise()
    asked.begin()
    with Answered(asked, 0), pytest.raises(Unprepared, match=r"shape \[4, 3\]"):
        torch.randn_like(X)


def test_functions_that_are_not_answered_stand_at_the_seed_of_the_step() -> None:
    asked = noise()
    drawn = []
    with torch.random.fork_rng(devices=()):
        for draw in (0, 1, 0):
            asked.begin(draw)
            drawn.append(torch.randperm(20).tolist())
    assert drawn[0] == drawn[2] != drawn[1]


def test_a_seeded_stretch_leaves_no_trace() -> None:
    before = torch.random.get_rng_state()
    with seeded(3):
        torch.rand(2)
    assert torch.equal(before, torch.random.get_rng_state())
