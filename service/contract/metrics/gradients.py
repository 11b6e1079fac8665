"""What is reported of the terms' gradients where they are watched."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from service.contract.metrics.table import COSINE, COSINE_MEAN, GRADIENT_NORM

# Terms up to which each pair has its cosine: 6 pairs of 4. Of more (yeast: 91 pairs of 14) each has its own with the
# first, the main one, and the mean over all pairs tells of the rest.
EVERY_PAIR = 4


def watched_pairs(terms: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs that have a cosine of their own, in the order of the problem."""
    pairs = list(combinations(terms, 2))
    return pairs if len(terms) <= EVERY_PAIR else [pair for pair in pairs if pair[0] == terms[0]]


def mean_cosine(terms: Sequence[str]) -> str | None:
    """The metric of the mean over all pairs, of two terms that of the only one; none of a single term."""
    if len(terms) < 2:
        return None
    return COSINE.of(*terms) if len(terms) == 2 else COSINE_MEAN


def gradient_metrics(terms: Sequence[str]) -> list[str]:
    """Everything that a watched trial reports of the gradients of these terms."""
    cosines = [COSINE.of(*pair) for pair in watched_pairs(terms)]
    return [*map(GRADIENT_NORM.of, terms), *cosines, *([COSINE_MEAN] if len(terms) > 2 else [])]
