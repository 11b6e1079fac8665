"""What is trained next: cohorts of planned trials, and of suggestions as their searches have them."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Protocol

from service.contract.methods.searches import OptunaSearch
from service.contract.study.expansion import PlannedTrial, Slot, expand
from service.contract.study.study import Study
from workers.planning.begun import Begun
from workers.planning.cohorts import Cohort, plan
from workers.planning.past import Past


class Search(Protocol):
    """Asked for trials when it has none in training, told how they ended."""

    @property
    def exhausted(self) -> bool: ...
    def ask(self) -> list[PlannedTrial]: ...
    def tell(self, trial: str, objectives: list[float] | None) -> None: ...


def searches_of(study: Study, past: Mapping[str, Past], elsewhere: bool = False) -> list[Search]:
    """One search per arm and seed, of the arms that are trained here, or of the others. Optuna is imported only for
    them."""
    searches: list[Search] = []
    slots = [trial for trial in expand(study) if isinstance(trial, Slot)]
    for arm in study.arms:
        if isinstance(arm.search, OptunaSearch) and (arm.run == "elsewhere") is elsewhere:
            from workers.planning.suggest import Suggester

            for seed in study.seeds:
                own = [slot for slot in slots if slot.arm == arm.name and slot.seed == seed]
                if own:
                    searches.append(Suggester(arm.search, own, study.objectives, past))
    return searches


def _ids(cohort: Cohort) -> tuple[str, ...]:
    return tuple(trial.id for trial in cohort)


class Supply:
    """Suggestions of searches that wait at the same time are planned together: larger cohorts, fewer shapes.

    They go first, because their results are waited for; planned cohorts fill the slots that are left.
    """

    def __init__(
        self,
        planned: Sequence[PlannedTrial],
        searches: Sequence[Search],
        slots: int,
        size: int | None,
        begun: Sequence[Begun] = (),
    ) -> None:
        """`begun` are cohorts whose state was saved: they go on as they were, since the state is of them all."""
        self._begun = list(begun)
        self._gone = {_ids(each.cohort): each.gone for each in begun}
        self._slots, self._size = slots, size
        self._planned = deque(self._plan(planned))
        self._suggested: deque[Cohort] = deque()
        self._searches = searches
        self._search_of: dict[str, Search] = {}

    def next(self) -> Cohort | None:
        """The next cohort; none when nothing is left or results must come first."""
        if not self._suggested:
            asked = [(trial, search) for search in self._searches for trial in search.ask()]
            self._search_of |= {trial.id: search for trial, search in asked}
            self._suggested += self._plan([trial for trial, _ in asked])
        for queue in (self._suggested, self._planned):
            if queue:
                return queue.popleft()
        return None

    def _plan(self, trials: Sequence[PlannedTrial]) -> list[Cohort]:
        """Cohorts that were begun first, then the others in new ones."""
        wanted = {trial.id for trial in trials}
        again = [each for each in self._begun if not wanted.isdisjoint(each.living)]
        self._begun = [each for each in self._begun if each not in again]
        theirs = {trial for each in again for trial in each.living}
        others = [trial for trial in trials if trial.id not in theirs]
        return [each.cohort for each in again] + plan(others, self._slots, self._size)

    def gone_from(self, cohort: Cohort) -> frozenset[str]:
        """Members that had failed before it was saved."""
        return self._gone.get(_ids(cohort), frozenset())

    @property
    def is_over(self) -> bool:
        """Whether no cohort will come any more."""
        return not self._suggested and not self._planned and all(search.exhausted for search in self._searches)

    def tell(self, trial: str, objectives: list[float] | None) -> None:
        """How a trial ended; planned ones need no telling, and a second telling changes nothing."""
        if search := self._search_of.pop(trial, None):
            search.tell(trial, objectives)
