"""The gradients of all terms of all members [K, n, P]: whether they may be held at once, and what is done if not.

Most weightings need only the Gram matrix, a sum over groups of parameters. Those that remember gradients, or compare
halves of a batch, need all of them: then fewer members train together.
"""

from __future__ import annotations

from service.contract.wording.numbers import number
from workers.own_code.members import Members
from workers.planning.cohorts import TooLarge
from workers.weightings import Weighting

HELD = 2**27  # numbers that are held at once: 512 MB


def fits(members: Members, terms: int, held: int = HELD) -> bool:
    """Whether the gradients of all terms over the shared parameters may be held at once."""
    return terms * members.shared.flat.numel() <= held


def way_words(members: Members, terms: int, weighting: Weighting, watched: bool, held: int) -> str:
    """How a step comes by its Gram matrices; nothing where it needs none."""
    if not (weighting.needs_gram or watched):
        return ""
    if fits(members, terms, held):
        return "Gram matrices of all gradients at once"
    if weighting.own_gram:
        return f"all gradients are held at once, {_gigabytes(members, terms)} GB, as the weighting needs them"
    return "Gram matrices are summed over groups of parameters, as all gradients would not fit"


def check_room(members: Members, terms: int, weighting: Weighting, held: int) -> None:
    """TooLarge where fewer members should train together. One trains in any case."""
    if members.count == 1 or not weighting.own_gram or fits(members, terms, held):
        return
    most = max(1, held // (terms * members.shared.flat.shape[1]))
    words = f"{members.count} members have gradients of {_gigabytes(members, terms)} GB, which their weighting needs"
    raise TooLarge(f"{words} at once: they are trained in cohorts of at most {most}", most)


def _gigabytes(members: Members, terms: int) -> str:
    flat = members.shared.flat
    return number(terms * flat.numel() * flat.element_size() / 1e9)
