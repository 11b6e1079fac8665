"""Arms that had the same training seconds to spend, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping

from service.contract.wording.lists import listed
from service.contract.wording.numbers import duration


def budget_words(budget: float | None, seconds: Mapping[str, float]) -> str:
    """`Each arm had 1 m 0 s of training: manual β spent 1 m 1 s and MIB 23 s.`; nothing where there was no limit."""
    if budget is None:
        return ""
    spent = [f"{arm} spent {duration(own)}" for arm, own in seconds.items()]
    return f"Each arm had {duration(budget)} of training: {listed(spent)}."
