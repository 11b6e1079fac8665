"""One search by Optuna: batches of suggestions out, results in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import optuna
from optuna.trial import TrialState

from service.contract.methods.searches import EVOLUTIONS, OptunaSearch
from service.contract.study.expansion import WEIGHTING, PlannedTrial, Slot, resolve, searched, searched_in_branch
from service.contract.study.study import Objective
from workers.planning import samplers
from workers.planning.past import Past
from workers.planning.samplers import Parameter

# Samplers that keep notes about each trial they were asked for: history is rebuilt through them.
NOTE_TAKERS = (*EVOLUTIONS, "qmc")


class Suggester:
    """The search of one arm and seed over its slots, in their order.

    A batch is asked for when all of the last one is told, so equal results lead to equal suggestions. `past` is what
    the log has: trials that are over are told at once, others with known values keep them. What the search was given of
    earlier studies comes before all.
    """

    def __init__(
        self,
        search: OptunaSearch,
        slots: Sequence[Slot],
        objectives: Sequence[Objective],
        past: Mapping[str, Past],
    ) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._search, self._slots, self._past = search, slots, past
        self._seed = slots[0].seed
        self._batch = search.batch_of(len(slots))
        self._study = optuna.create_study(directions=[objective.goal for objective in objectives])
        self._study.add_trials(
            samplers.told_trial(told, space_of(slots[0], told.values))
            for told in search.told
            if told.seed == self._seed
        )
        self._open: dict[str, optuna.Trial] = {}
        self._asked = 0

    @property
    def exhausted(self) -> bool:
        """Whether every slot has its values; some may still be in training."""
        return self._asked == len(self._slots)

    def ask(self) -> list[PlannedTrial]:
        """The next trials to train; none while some are in training, or when all are over."""
        ready: list[PlannedTrial] = []
        while not self._open and not self.exhausted:
            batch = self._slots[self._asked : self._asked + self._batch]
            self._open = {slot.id: self._ask(slot, self._asked + i) for i, slot in enumerate(batch)}
            self._asked += len(batch)
            for slot in batch:
                if (past := self._past.get(slot.id)) and past.over:
                    self.tell(slot.id, past.objectives, past.excesses)
            ready = [resolve(slot, _values(slot, self._open[slot.id])) for slot in batch if slot.id in self._open]
        return ready

    def tell(self, trial: str, objectives: list[float] | None, excesses: Sequence[float] = ()) -> None:
        """The end of a trial; none when it failed, collapsed or lacks an objective. Telling twice changes nothing.

        Excesses above 0 make it infeasible: samplers that know constraints (all but qmc and random) prefer the others.
        """
        if (asked := self._open.pop(trial, None)) is None:
            return
        if objectives is None:
            self._study.tell(asked, state=TrialState.FAIL)
        else:
            for i, excess in enumerate(excesses):
                asked.set_constraint(str(i), excess)
            self._study.tell(asked, objectives)

    def _ask(self, slot: Slot, number: int) -> optuna.Trial:
        past = self._past.get(slot.id)
        space = {} if past is None else space_of(slot, past.values)
        known = past is not None and past.values.keys() >= {own.key for own in space.values()}
        if past is not None and known:
            self._study.enqueue_trial({name: past.values[own.key] for name, own in space.items()})
        self._study.sampler = samplers.build(self._search, len(self._slots), self._seed, number)
        trial = self._study.ask()
        if known and self._search.sampler in NOTE_TAKERS:
            _ = trial.relative_params  # the sampler is asked, its answer not used
        for key, axis in searched(slot).items():
            samplers.draw(trial, key, axis)
        for name, own in _of_branch(slot, trial.params).items():  # once it is known which
            samplers.draw(trial, name, own.axis)
        return trial


def space_of(slot: Slot, values: Mapping[str, object]) -> dict[str, Parameter]:
    """What a trial with these values has, by Optuna's name for it."""
    return {key: Parameter(key, axis) for key, axis in searched(slot).items()} | _of_branch(slot, values)


def _of_branch(slot: Slot, values: Mapping[str, object]) -> dict[str, Parameter]:
    """`weighting.fixed.beta`: a name of its own, since another weighting may have a β from elsewhere."""
    own = searched_in_branch(slot, values)
    return {key.replace(".", f".{values[WEIGHTING]}.", 1): Parameter(key, axis) for key, axis in own.items()}


def _values(slot: Slot, trial: optuna.Trial) -> dict[str, object]:
    return {own.key: trial.params[name] for name, own in space_of(slot, trial.params).items()}
