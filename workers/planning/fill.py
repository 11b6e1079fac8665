"""One search that fills a front: rounds of places out, results in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

from service.contract.methods.searches import FillSearch
from service.contract.parameters.axes import Range
from service.contract.study.expansion import PlannedTrial, Slot, resolve, searched
from service.contract.study.gaps import gaps
from service.contract.study.study import Objective
from service.contract.wording.numbers import number, plural, setting
from workers.planning.ending import Ended
from workers.planning.filling import Place, living, wishes
from workers.planning.past import Past
from workers.planning.scale import Scale


class Filler:
    """The search of one arm over all its slots. As many as there are seeds make a place: one value, trained with each.

    A round is asked for when all of the last one is told, so equal results lead to equal rounds. `past` is what the
    log has: trials that are over are told at once, and places whose value is known keep it.
    """

    def __init__(
        self, search: FillSearch, slots: Sequence[Slot], objectives: Sequence[Objective], past: Mapping[str, Past]
    ) -> None:
        self._search, self._slots, self._past = search, slots, past
        seeds = len({slot.seed for slot in slots})
        self._left = [slots[i : i + seeds] for i in range(0, len(slots), seeds)]  # of which no place was made
        ((self._key, axis),) = searched(slots[0]).items()
        assert isinstance(axis, Range), f"fill goes along a range, got {axis!r}"
        self._scale = Scale(axis)
        self._signs = [1.0 if objective.goal == "minimize" else -1.0 for objective in objectives]
        bounds = [
            inf if objective.reference_value is None else sign * objective.reference_value
            for sign, objective in zip(self._signs, objectives, strict=True)
        ]
        self._worst = (bounds[0], bounds[1])
        self._places: dict[float, Place] = {}  # by value
        self._open: dict[str, tuple[float, int]] = {}  # value and seed of trials that are in training
        self._ready: list[PlannedTrial] = []
        self._done = False
        self._go_on()

    @property
    def exhausted(self) -> bool:
        """Whether no more values are needed; some trials may still be in training."""
        return not self._ready and (self._done or not self._left)

    @property
    def ended(self) -> Ended | None:
        """How it ended before its budget did; none where it did not."""
        spared = tuple(slot.id for slots in self._left for slot in slots)
        return Ended(spared, self._why()) if self._done and spared else None

    def ask(self) -> list[PlannedTrial]:
        """The next trials to train; none while some are in training, or when all are over."""
        ready, self._ready = self._ready, []
        return ready

    def tell(self, trial: str, objectives: list[float] | None, excesses: Sequence[float] = ()) -> None:
        """The end of a trial; none when it failed, collapsed or lacks an objective. One that breaks a constraint is on
        no front, as if it had failed. Telling twice changes nothing."""
        if (own := self._open.pop(trial, None)) is None:
            return
        value, seed = own
        self._reach(value, seed, objectives, excesses)
        if not self._open:
            self._go_on()

    def _go_on(self) -> None:
        """Rounds until one has something to train, or none is needed."""
        while not self._open and self._left and not self._done:
            values = self._next_values()
            self._done = not values
            for value, slots in values:
                self._left.remove(slots)
                self._places[value] = Place(self._scale.share(value), {})
                for slot in slots:
                    self._open[slot.id] = value, slot.seed
                    if (past := self._past.get(slot.id)) and past.over:
                        del self._open[slot.id]
                        self._reach(value, slot.seed, past.objectives, past.excesses)
                    else:
                        self._ready.append(resolve(slot, {self._key: value}))

    def _reach(self, value: float, seed: int, objectives: list[float] | None, excesses: Sequence[float]) -> None:
        if objectives is not None and all(excess <= 0 for excess in excesses):
            x, y = (sign * each for sign, each in zip(self._signs, objectives, strict=True))
            self._places[value].reached[seed] = (x, y)

    def _next_values(self) -> list[tuple[float, Sequence[Slot]]]:
        """With the slots of each. What the log knows comes first: after an extension it may be more than is needed."""
        wanted = self._wanted()
        known = [(value, slots) for slots in self._left if (value := self._known(slots)) is not None]
        if not wanted:
            return known
        rows: list[tuple[float, Sequence[Slot]]] = []
        taken = {*self._places, *(value for value, _ in known)}
        for slots in self._left[: len(wanted)]:
            value = self._known(slots)
            if value is None:
                value = next((each for each in wanted if each not in taken), None)
            if value is not None:
                rows.append((value, slots))
                taken.add(value)
        return rows or known

    def _known(self, slots: Sequence[Slot]) -> float | None:
        """The value that a place has in the log, if one of its trials has it there."""
        for slot in slots:
            value = self._past[slot.id].values.get(self._key) if slot.id in self._past else None
            if isinstance(value, (int, float)) and value not in self._places:
                return value
        return None

    def _wanted(self) -> list[float]:
        """Values of the next round, at most as many as there are places left; all differ from what was tried."""
        left = len(self._left)
        if not self._places:
            start = max(2, min(self._search.start, left))
            values = [self._scale.value(i / (start - 1)) for i in range(start)]
        else:
            places = list(self._places.values())
            tolerance, aim = self._search.tolerance, self._search.aim
            wanted = wishes(places, left, tolerance, self._scale.has_room, self._worst, aim)
            values = [self._scale.between(*wish) for wish in wanted]
        return [value for value in dict.fromkeys(values) if value not in self._places][:left]

    def _why(self) -> str:
        """In words for people, with the arm's name."""
        arm, means = self._slots[0].arm, [each.mean for each in living(list(self._places.values()))]
        tried = len(self._slots) - sum(map(len, self._left))
        after = f"after {tried} of {plural(len(self._slots), 'trial')}"
        if not means:
            return f"{arm}: no value of {self._key} reached anything, {after}"
        largest, tolerance = max((gap.size for gap in gaps(means)), default=0.0), self._search.tolerance
        if largest <= tolerance:
            return f"{arm}: no gap above {setting(tolerance)} left {after}"
        rest = f"the largest, {number(largest)}, is within the noise of the seeds or has no values between"
        if self._search.aim == "hypervolume":
            rest += ", or lies beyond the reference point"
        return f"{arm}: no gap above {setting(tolerance)} left that can be filled {after}; {rest}"
