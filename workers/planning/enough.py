"""When an arm has enough: the searches of its seeds go batch by batch, until another would gain too little."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import NamedTuple, Protocol

import moocore
import numpy as np

from service.contract.methods.searches import OptunaSearch
from service.contract.study.batches import Batches
from service.contract.study.expansion import PlannedTrial, Slot
from service.contract.study.expected_gain import Gain, enough, expected_gain, volume_curves
from service.contract.study.limits import Limits
from service.contract.study.study import Arm, Objective, Study
from service.contract.wording.numbers import plural, setting
from workers.planning.ending import Ended
from workers.planning.listed import Listed
from workers.planning.past import Past


class Asked(Protocol):
    """The search of one seed."""

    @property
    def exhausted(self) -> bool: ...
    def ask(self) -> list[PlannedTrial]: ...
    def tell(self, trial: str, objectives: list[float] | None, excesses: Sequence[float] = ()) -> None: ...


class OfSeed(NamedTuple):
    """A seed's search, and its trials in the order in which it asks for them."""

    search: Asked
    batches: list[list[str]]


def volume(points: list[list[float]], corner: list[float]) -> float:
    return float(moocore.hypervolume(np.array(points), ref=corner))


class UntilEnough:
    """One search for all seeds of an arm. A batch is asked for when that before it is over in every seed.

    What it decides follows from the log alone: a driver that is started again decides the same.
    """

    def __init__(
        self,
        arm: str,
        seeds: Sequence[OfSeed],
        objectives: Sequence[Objective],
        limits: Limits,
        past: Mapping[str, Past],
    ) -> None:
        self.arm = arm
        self._seeds, self._objectives = seeds, objectives
        self._gain, self._patience = limits.gain or 0.0, limits.batches_in_a_row
        self._search_of = {trial: own.search for own in seeds for batch in own.batches for trial in batch}
        self._values = {
            trial: _feasible(past[trial].objectives, past[trial].excesses)
            for trial in self._search_of
            if trial in past and past[trial].over
        }
        self.gains: list[Gain | None] = []  # expected after each batch that is over in every seed
        self._judge()

    @property
    def exhausted(self) -> bool:
        return self._has_enough or all(own.search.exhausted for own in self._seeds)

    def ask(self) -> list[PlannedTrial]:
        if self._has_enough:
            return []
        now = len(self.gains)
        waiting = (own for own in self._seeds if now < len(own.batches) and not self._is_over(own.batches[now]))
        return [trial for own in waiting for trial in own.search.ask()]

    def tell(self, trial: str, objectives: list[float] | None, excesses: Sequence[float] = ()) -> None:
        self._search_of[trial].tell(trial, objectives, excesses)
        self._values[trial] = _feasible(objectives, excesses)
        self._judge()

    @property
    def ended(self) -> Ended | None:
        """How it ended before its last trial, if it did."""
        spared = tuple(trial for trial in self._search_of if trial not in self._values) if self._has_enough else ()
        last = self.gains[-1] if self.gains else None
        if not spared or last is None:
            return None
        trained, planned = len(self._values), plural(len(self._search_of), "trial")
        most = setting(100 * last.upper, 2)
        words = f"stopped after {trained} of {planned}: another batch would gain at most {most} % of hypervolume"
        return Ended(spared, f"{self.arm}: {words}")

    @property
    def _has_enough(self) -> bool:
        return enough(self.gains, self._gain, self._patience) is not None

    def _is_over(self, batch: Sequence[str]) -> bool:
        return all(trial in self._values for trial in batch)

    def _judge(self) -> None:
        """After each batch by what was known then, until it is enough."""
        most = max(len(own.batches) for own in self._seeds)
        for batches in count(len(self.gains) + 1):
            over = all(self._is_over(batch) for own in self._seeds for batch in own.batches[:batches])
            if batches > most or not over or self._has_enough:
                return
            values = [
                [[self._values[trial] for trial in batch] for batch in own.batches[:batches]] for own in self._seeds
            ]
            self.gains.append(expected_gain(volume_curves(values, self._objectives, volume)))


def _feasible(objectives: list[float] | None, excesses: Sequence[float]) -> list[float] | None:
    """What breaks a constraint adds to no hypervolume."""
    return objectives if all(excess <= 0 for excess in excesses) else None


def until_enough(study: Study, arm: Arm, batches: Mapping[int, Batches], past: Mapping[str, Past]) -> UntilEnough:
    """By the batches of each seed. Optuna is imported only for an arm that it searches."""
    seeds = [
        OfSeed(_search(study, arm, own, past), [[t.id for t in batch] for batch in own]) for own in batches.values()
    ]
    return UntilEnough(arm.name, [own for own in seeds if own.batches], study.objectives, study.limits, past)


def _search(study: Study, arm: Arm, batches: Batches, past: Mapping[str, Past]) -> Asked:
    slots = [trial for batch in batches for trial in batch if isinstance(trial, Slot)]
    if isinstance(arm.search, OptunaSearch) and slots:
        from workers.planning.suggest import Suggester

        search = arm.search.model_copy(update={"batch": len(batches[0])})
        return Suggester(search, slots, study.objectives, past)
    return Listed([[trial for trial in batch if isinstance(trial, PlannedTrial)] for batch in batches], past)
