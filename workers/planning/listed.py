"""A grid as a search would have it: batch after batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.contract.study.expansion import PlannedTrial
from workers.planning.past import Past


class Listed:
    """One seed's trials of a grid, in batches; those that are over are passed by."""

    def __init__(self, batches: Sequence[Sequence[PlannedTrial]], past: Mapping[str, Past]) -> None:
        over = {trial for trial, known in past.items() if known.over}
        left = [[trial for trial in batch if trial.id not in over] for batch in batches]
        self._left = [batch for batch in left if batch]
        self._open: set[str] = set()

    @property
    def exhausted(self) -> bool:
        return not self._left

    def ask(self) -> list[PlannedTrial]:
        if self._open or not self._left:
            return []
        batch = self._left.pop(0)
        self._open = {trial.id for trial in batch}
        return batch

    def tell(self, trial: str, objectives: list[float] | None, excesses: Sequence[float] = ()) -> None:
        self._open.discard(trial)
