"""In which order the hidden units are visited in a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch

from workers.balance.pairs import Pair


class Visit(NamedTuple):
    """A unit of a layer, or all its units at once."""

    pair: Pair
    unit: int | None = None


def in_turn(pairs: Sequence[Pair], tied: bool) -> list[Visit]:
    """From the input to the output. Units of a layer share no weight, so all at once is one after the other."""
    return [
        visit for pair in pairs for visit in (_units(pair) if pair.loop is not None and not tied else [Visit(pair)])
    ]


def in_reverse(pairs: Sequence[Pair], tied: bool) -> list[Visit]:
    """From the output to the input."""
    return in_turn(pairs, tied)[::-1]


def alternating(pairs: Sequence[Pair], tied: bool) -> list[Visit]:
    """The odd layers, then the even ones: neighbours alone share weights, so either half is balanced as if at once."""
    layers = list(dict.fromkeys(pair.name for pair in pairs))  # heads have layers of one name
    halves = ([pair for pair in pairs if layers.index(pair.name) % 2 == parity] for parity in (0, 1))
    return [visit for half in halves for visit in in_turn(half, tied)]


def shuffled(pairs: Sequence[Pair], tied: bool, generator: torch.Generator) -> list[Visit]:
    """Every unit once (tied: every layer), in random order over the whole network."""
    visits = [visit for pair in pairs for visit in ([Visit(pair)] if tied or pair.whole else _units(pair))]
    return [visits[i] for i in torch.randperm(len(visits), generator=generator).tolist()]


def _units(pair: Pair) -> list[Visit]:
    return [Visit(pair, unit) for unit in range(pair.into[0].shape[1])]
