"""Arms that had the same training seconds to spend: whether they did, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping

from service.contract.wording.lists import listed
from service.contract.wording.numbers import duration

NEAR = 0.1  # of the budget: one report may be dearer than all of it, and costs that differ so much are not equal


def spent_it(budget: float | None, seconds: Mapping[str, float]) -> set[str]:
    """Arms that came near to their budget, so that their number of points is part of what it bought."""
    if budget is None:
        return set()
    return {arm for arm, own in seconds.items() if abs(own - budget) <= NEAR * budget}


def budget_words(budget: float | None, seconds: Mapping[str, float]) -> str:
    """`Each arm had 1 m 0 s of training: manual β spent 1 m 1 s and MIB spent 23 s. …`, and how they are compared
    then; nothing where there was no limit."""
    if budget is None:
        return ""
    spent = [f"{arm} spent {duration(own)}" for arm, own in seconds.items()]
    said = f"Each arm had {duration(budget)} of training: {listed(spent)}."
    if len(seconds) < 2:
        return said
    near = spent_it(budget, seconds)
    if far := [arm for arm in seconds if arm not in near]:
        is_, its = ("is", "its hypervolume is") if len(far) == 1 else ("are", "their hypervolumes are")
        return f"{said} {listed(far)} {is_} more than a tenth from that: {its} compared as without the limit."
    return f"{said} Hypervolumes are compared at that cost, whatever the number of points."
