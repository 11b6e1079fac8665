"""How many arms stand alike, so that a sentence about all of them is counted and not typed."""

from __future__ import annotations

from findings.expression import Question
from findings.quantities.quantity import Quantity
from findings.wording import Said
from service.analysis.compared import compared
from service.analysis.place_words import IN_WORDS, standing_in_short
from service.contract.wording.numbers import whole


def how_many(question: Question) -> Said:
    """Of the arms that are named, else of all that are held against the baseline."""
    (words,) = question.given.words
    if words not in IN_WORDS:
        raise ValueError(f"no arm stands {words!r}; known: {', '.join(IN_WORDS)}")
    seen = compared(question.view)
    named = question.given.arms or tuple(arm.name for arm in seen.arms if arm.name != seen.baseline)
    standing = [standing_in_short(arm.place) for arm in seen.arms if arm.name in named]
    return Said(f"{whole(standing.count(words))} of {whole(len(standing))}", question.seeds)


QUANTITIES = [
    Quantity("how many(PATH; [ARM…])", "arms that stand so, as: how many(above the front) is 0 of 16", how_many),
]
