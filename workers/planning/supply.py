"""What is trained next: cohorts of planned trials, and of suggestions as their searches have them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from service.contract.methods.searches import FillSearch, OptunaSearch
from service.contract.study.batches import batches_of, comes_in_batches
from service.contract.study.expansion import PlannedTrial, Slot, expand
from service.contract.study.study import Study
from service.contract.wire.events import Metrics
from workers.planning.begun import Begun
from workers.planning.budget import Budget
from workers.planning.cohorts import Cohort, are_alike, plan, smaller
from workers.planning.fill import Filler
from workers.planning.past import Past
from workers.planning.rungs import Rungs, Stopped


class Search(Protocol):
    """Asked for trials when it has none in training, told how they ended."""

    @property
    def exhausted(self) -> bool: ...
    def ask(self) -> list[PlannedTrial]: ...
    def tell(self, trial: str, objectives: list[float] | None, excesses: Sequence[float] = ()) -> None: ...


def searches_of(study: Study, past: Mapping[str, Past], elsewhere: bool = False) -> list[Search]:
    """One search per arm that fills, else per arm and seed; of the arms that are trained here, or of the others. Where
    the study may have enough, one per arm, of grids too. Optuna is imported only for its own."""
    searches: list[Search] = []
    slots = [trial for trial in expand(study) if isinstance(trial, Slot)]
    in_batches = {} if study.limits.gain is None else batches_of(study)
    for arm in study.arms:
        if (arm.run == "elsewhere") is not elsewhere:
            continue
        if isinstance(arm.search, FillSearch):
            own = [slot for slot in slots if slot.arm == arm.name]
            searches.append(Filler(arm.search, own, study.objectives, past))
        elif arm.name in in_batches:
            from workers.planning.enough import until_enough

            searches.append(until_enough(study, arm, in_batches[arm.name], past))
        elif isinstance(arm.search, OptunaSearch):
            from workers.planning.suggest import Suggester

            for seed in study.seeds:
                own = [slot for slot in slots if slot.arm == arm.name and slot.seed == seed]
                if own:
                    searches.append(Suggester(arm.search, own, study.objectives, past))
    return searches


def planned_of(study: Study, trials: Iterable[PlannedTrial | Slot]) -> list[PlannedTrial]:
    """Those that no search asks for."""
    planned = [trial for trial in trials if isinstance(trial, PlannedTrial)]
    if study.limits.gain is None:
        return planned
    in_batches = {arm.name for arm in study.arms if comes_in_batches(arm)}
    return [trial for trial in planned if trial.verifies or trial.arm not in in_batches]


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
        rungs: Rungs | None = None,
        budget: Budget | None = None,
    ) -> None:
        """`begun` are cohorts whose state was saved: they go on as they were, since the state is of them all.

        With `rungs` a cohort ends at its next one, and those of its members that are not stopped there go on from its
        state, in a cohort of their own, when all of them have been compared. With a `budget` arms are trained apart,
        and one that has spent its own gets no more cohorts.
        """
        self._budget = budget
        self._begun = list(begun)
        self._gone = {_ids(each.cohort): each.gone for each in begun}
        self._slots, self._size, self._rungs = slots, size, rungs
        self._sources: dict[tuple[str, ...], Cohort] = {}
        self._handed: dict[str, Cohort] = {}  # by member, those that are to rest at a rung
        self._resting = {trial.id: trial for trial in planned if rungs is not None and rungs.rests(trial.id)}
        self._planned = deque(self._plan([trial for trial in planned if trial.id not in self._resting]))
        self._suggested: deque[Cohort] = deque()
        self._searches = searches
        self._search_of: dict[str, Search] = {}

    def next(self) -> Cohort | None:
        """The next cohort; none when nothing is left or results must come first."""
        self._drop_spent()
        if not self._suggested:
            asked = [(trial, search) for search in self._searches for trial in search.ask()]
            self._search_of |= {trial.id: search for trial, search in asked}
            self._suggested += self._plan([trial for trial, _ in asked])
            self._drop_spent()
        for queue in (self._suggested, self._planned):
            if queue:
                return self._hand_out(queue.popleft())
        return None

    def _drop_spent(self) -> None:
        """A search whose suggestions are dropped is not asked again."""
        if self._budget is None:
            return
        for queue in (self._suggested, self._planned):
            dropped = [cohort for cohort in queue if all(map(self._budget.is_out, cohort))]
            for cohort in dropped:
                queue.remove(cohort)
            gone = [self._search_of[trial.id] for cohort in dropped for trial in cohort if trial.id in self._search_of]
            self._searches = [search for search in self._searches if search not in gone]

    def _hand_out(self, cohort: Cohort) -> Cohort:
        if self.until(cohort) is not None:
            gone = self.gone_from(cohort) | (self._rungs.over() if self._rungs else frozenset())
            self._handed |= {trial.id: cohort for trial in cohort if trial.id not in gone}
        for trial in cohort:
            self._resting.pop(trial.id, None)
        return cohort

    def cut(self, cohort: Cohort, most: int) -> None:
        """Its members return in cohorts of at most this many, and so do those like it that wait."""
        for queue in (self._suggested, self._planned):
            pieces = [smaller(each, most) if are_alike(each, cohort) else [each] for each in queue]
            queue.clear()
            queue.extend(piece for each in pieces for piece in each)
        self._planned.extendleft(reversed(smaller(cohort, most)))

    def until(self, cohort: Cohort) -> int | None:
        """The epoch at which it is to rest, if it is: by its living members, as those that failed are elsewhere."""
        gone = self.gone_from(cohort)
        return None if self._rungs is None else self._rungs.until([trial for trial in cohort if trial.id not in gone])

    def source_of(self, cohort: Cohort) -> Cohort | None:
        """The cohort from whose state it goes on; none: from its own, if it has one."""
        return self._sources.get(_ids(cohort))

    def rested(self, epoch: int, metrics: Mapping[str, Metrics]) -> list[Stopped]:
        """The living members of a cohort have come to a rung; who stops now, of all that wait there."""
        cohort = next((self._handed[trial] for trial in metrics if trial in self._handed), None)
        if self._rungs is None or cohort is None:  # whoever says it again, after a death, was heard
            return []
        for trial in cohort:
            if self._handed.get(trial.id) is cohort:
                del self._handed[trial.id]
            if trial.id in metrics and trial.id not in self._rungs.over():
                self._rungs.reached(trial.id, epoch, metrics[trial.id])
                self._resting[trial.id] = trial
        self._begun.append(Begun(cohort, epoch, frozenset(trial.id for trial in cohort if trial.id not in metrics)))
        return self.decide()

    def ended(self, trial: str, failed: bool) -> list[Stopped]:
        """A trial is waited for no more; who stops now that it is known how it ended."""
        self._handed.pop(trial, None)
        if self._rungs is None:
            return []
        self._rungs.ended(trial, failed)
        return self.decide()

    def decide(self) -> list[Stopped]:
        """Who stops, as far as it can be decided; those that go on are handed out next."""
        if self._rungs is None:
            return []
        stopped = self._rungs.decide()
        for each in stopped:
            self._resting.pop(each.trial, None)
        waiting = {trial for trial in self._resting if self._rungs.rests(trial)}
        for begun in self._begun:  # who shares a state goes on together
            if not waiting.isdisjoint(begun.living):
                waiting |= begun.living
        free = [trial for own, trial in self._resting.items() if own not in waiting]
        self._resting = {own: trial for own, trial in self._resting.items() if own in waiting}
        self._planned += self._plan(free)
        return stopped

    def _plan(self, trials: Sequence[PlannedTrial]) -> list[Cohort]:
        """Cohorts that were begun first, then the others in new ones."""
        wanted = {trial.id for trial in trials}
        again = [each for each in self._begun if not wanted.isdisjoint(each.living)]
        self._begun = [each for each in self._begun if each not in again]
        theirs = {trial for each in again for trial in each.living}
        others = [trial for trial in trials if trial.id not in theirs]
        parts = [others] if self._budget is None else self._budget.apart(others)
        fresh = [cohort for own in parts for cohort in plan(own, self._slots, self._size)]
        return [self._formed(each) for each in again] + fresh

    def _formed(self, begun: Begun) -> Cohort:
        """As it was, or without those that were stopped since it was saved."""
        if self._rungs is None or begun.living.isdisjoint(stopped := self._rungs.stopped()):
            self._gone[_ids(begun.cohort)] = begun.gone
            return begun.cohort
        left = [trial for trial in begun.cohort if trial.id in begun.living - stopped]
        self._sources[_ids(left)] = begun.cohort
        return left

    def gone_from(self, cohort: Cohort) -> frozenset[str]:
        """Members that had failed before it was saved."""
        return self._gone.get(_ids(cohort), frozenset())

    @property
    def is_over(self) -> bool:
        """Whether no cohort will come any more."""
        self._drop_spent()
        waits = self._suggested or self._planned or self._handed or self._resting
        return not waits and all(search.exhausted for search in self._searches)

    def tell(self, trial: str, objectives: list[float] | None, excesses: Sequence[float] = ()) -> None:
        """How a trial ended; planned ones need no telling, and a second telling changes nothing."""
        if search := self._search_of.pop(trial, None):
            search.tell(trial, objectives, excesses)
