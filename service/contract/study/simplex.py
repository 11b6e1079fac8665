"""Simplex grids: every mixture of some terms in equal steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise


def count(terms: int, steps: int) -> int:
    """How many mixtures there are: stars and bars."""
    return math.comb(steps + terms - 1, terms - 1)


def finest(terms: int, most: int) -> int:
    """The most steps with which there are at most this many mixtures; one at least, which has each term alone."""
    steps = 1
    while count(terms, steps + 1) <= most:
        steps += 1
    return steps


def mixtures(terms: Sequence[str], steps: int) -> Iterator[dict[str, float]]:
    """Weights i/steps that sum to 1, times the number of terms, so that the middle weighs each term 1."""
    n = len(terms)
    for bars in combinations(range(steps + n - 1), n - 1):
        edges = (-1, *bars, steps + n - 1)
        stars = [right - left - 1 for left, right in pairwise(edges)]
        yield {term: i * n / steps for term, i in zip(terms, stars, strict=True)}
