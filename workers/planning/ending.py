"""Arms that end before their last trial, because no more is needed or may be spent."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import NamedTuple, Protocol, runtime_checkable

from workers.planning.budget import Budget


class Ended(NamedTuple):
    """Trials that are not needed, and why, in words that name the arms; none and nothing where all are."""

    spared: tuple[str, ...] = ()
    reason: str = ""


@runtime_checkable
class MayEndEarly(Protocol):
    """A search of a whole arm that may need fewer trials than it has."""

    @property
    def ended(self) -> Ended | None: ...


def ended_early(searches: Iterable[object], open_trials: Set[str], budget: Budget | None = None) -> Ended:
    """Of the trials that have not ended: what searches do not need, and what arms may not spend any more."""
    spared: list[str] = []
    why: list[str] = []
    for search in searches:
        if isinstance(search, MayEndEarly) and (end := search.ended) is not None:
            spared += [trial for trial in end.spared if trial in open_trials]
            why.append(end.reason)
    for arm, left in sorted(budget.unspent(set(open_trials).difference(spared)).items()) if budget else ():
        spared += sorted(left)
        why.append(f"{arm}: {budget.reason(arm, left)}" if budget else "")
    return Ended(tuple(spared), "; ".join(filter(None, why)))
