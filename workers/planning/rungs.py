"""Who trains on from a rung, and who stops: decided once per arm and rung, by what the log has of its trials.

Within an arm, and over its seeds: a configuration is compared by the mean of its seeds, and they go on or stop
together, so that what remains has an interval. The same reports lead to the same decision, whoever makes it and
however often.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from service.contract.metrics import EPOCH
from service.contract.study.expansion import PlannedTrial, Slot
from service.contract.study.halved import halved
from service.contract.study.outcomes import feasible, objective_values
from service.contract.study.study import Study
from service.contract.wire.answers.read_by_drivers import KnownTrial
from service.contract.wire.events import Metrics, TrialState
from workers.planning.ranking import Placed, best_first


class Stopped(NamedTuple):
    """A trial that trains no further, after which epoch, and why."""

    trial: str
    epoch: int
    reason: str


class Known(NamedTuple):
    """What is known of a trial: how far it is, what it measured there, and how it ended, if it did."""

    epoch: int = 0
    metrics: Metrics | None = None
    state: TrialState = TrialState.PLANNED  # stopped: by a decision


class Rungs:
    """The rungs of a study, and how far its arms have come on them."""

    def __init__(self, study: Study, trials: Iterable[PlannedTrial | Slot], known: Mapping[str, Known]) -> None:
        """`known` is what the log has; trials that are not in it have not begun."""
        self._study, self._halving = study, study.stopping
        self._halved = {arm.name for arm in halved(study)}
        self._trials = {trial.id: trial for trial in trials}
        self._known = {trial: known.get(trial, Known()) for trial in self._trials}
        self._arms: dict[str, list[str]] = {}
        for trial in self._trials.values():
            self._arms.setdefault(trial.arm, []).append(trial.id)
        self._cut = {arm for arm in self._arms if self._is_cut(arm)}
        groups = self._by_configuration(self._trials).values()
        self._seeds_of = {trial: own for own in groups for trial in own}
        self._decided = {arm: self._passed(own) for arm, own in self._arms.items()}

    def rests(self, trial: str) -> bool:
        """Whether it has come to a rung and waits there for the others of its arm."""
        known = self._known[trial]
        return known.state is TrialState.RUNNING and known.epoch == self.next(trial)

    def next(self, trial: str) -> int | None:
        """The rung at which it is compared or stopped next; none: it trains to its end."""
        stops = self._stops_late(trial)
        return self._next_of(self._trials[trial].arm) if stops is None else stops

    def until(self, cohort: Sequence[PlannedTrial]) -> int | None:
        """Where a cohort rests: at the first rung of any of its members."""
        rungs = [rung for trial in cohort if (rung := self.next(trial.id)) is not None]
        return min(rungs, default=None)

    def reached(self, trial: str, epoch: int, metrics: Metrics) -> None:
        """A trial rests after this epoch."""
        self._known[trial] = Known(epoch, metrics, TrialState.RUNNING)

    def ended(self, trial: str, failed: bool) -> None:
        """Nobody waits for it any more."""
        state = TrialState.FAILED if failed else TrialState.FINISHED
        self._known[trial] = self._known[trial]._replace(state=state)

    def decide(self) -> list[Stopped]:
        """Those that stop now: of every arm whose trials have all come to their rung, or have failed."""
        return [each for arm in self._arms for each in self._decide(arm)]

    def stopped(self) -> set[str]:
        """All that a decision has ended."""
        return {trial for trial, known in self._known.items() if known.state is TrialState.STOPPED}

    def over(self) -> frozenset[str]:
        """All that nobody waits for any more, however they ended."""
        return frozenset(trial for trial in self._known if self._is_over(trial))

    def _next_of(self, arm: str) -> int | None:
        """The first rung of an arm at which nothing was decided yet."""
        if self._halving is None or arm not in self._cut:
            return None
        rungs = self._halving.rungs(self._trials[self._arms[arm][0]].training.epochs)
        return next((rung for rung in rungs if rung > self._decided[arm]), None)

    def _stops_late(self, trial: str) -> int | None:
        """Where its configuration was stopped while it was not there, as it had failed and is tried again."""
        own, arm = self._known[trial].epoch, self._trials[trial].arm
        if self._is_over(trial) or arm not in self._cut:
            return None
        others = (self._known[other] for other in self._seeds_of[trial])
        cuts = [other.epoch for other in others if other.state is TrialState.STOPPED]
        return min((cut for cut in cuts if own <= cut <= self._decided[arm]), default=None)

    def _decide(self, arm: str) -> list[Stopped]:
        late = [self._late(trial) for trial in self._arms[arm] if self._known[trial].epoch == self._stops_late(trial)]
        self._stop(late)
        return [*late, *self._decide_at_rung(arm)]

    def _late(self, trial: str) -> Stopped:
        epoch = self._known[trial].epoch
        epochs = self._trials[trial].training.epochs
        return Stopped(trial, epoch, f"stopped after epoch {epoch} of {epochs}: its configuration was stopped there")

    def _stop(self, stopped: Iterable[Stopped]) -> None:
        for each in stopped:
            self._known[each.trial] = self._known[each.trial]._replace(state=TrialState.STOPPED)

    def _decide_at_rung(self, arm: str) -> list[Stopped]:
        own = self._arms[arm]
        rung = self._next_of(arm)
        open_ = [trial for trial in own if not self._is_over(trial)]
        if rung is None or not open_ or any(not self._is_at(trial, rung) for trial in open_):
            return []
        self._decided[arm] = rung
        compared = [trial for trial in own if self._is_at(trial, rung)]
        stopped = [each for each in self._compare(compared, rung) if each.trial in open_]
        self._stop(stopped)
        return stopped

    def _compare(self, trials: Sequence[str], rung: int) -> list[Stopped]:
        """Those of the trials that do not go on, by configuration."""
        assert self._halving is not None
        configurations = list(self._by_configuration(trials).values())
        keeping = [self._may_be_feasible(own) for own in configurations]
        order: list[Placed] = []
        for keeps in (True, False):  # what breaks a constraint comes after what keeps them all
            some = [i for i, each in enumerate(keeping) if each is keeps]
            ranked = best_first([self._mean(configurations[i]) for i in some]) if some else []
            order += [placed._replace(number=some[placed.number]) for placed in ranked]
        count, kept = len(order), self._halving.going_on(len(order))
        epochs = self._trials[trials[0]].training.epochs
        fronts = len({placed.rank for placed in order if placed.rank})
        stopped = []
        for place, (number, rank) in enumerate(order[kept:], kept + 1):
            what = f"on front {rank} of {fronts}" if rank else "without values to compare"
            reason = f"stopped after epoch {rung} of {epochs}: place {place} of {count} configurations ({what}), "
            reason += f"and {kept} went on"
            stopped += [Stopped(trial, rung, reason) for trial in configurations[number]]
        return stopped

    def _by_configuration(self, trials: Iterable[str]) -> dict[tuple[str, str], list[str]]:
        """Trials that differ in their seed alone."""
        groups: dict[tuple[str, str], list[str]] = {}
        for trial in trials:
            groups.setdefault(self._configuration(trial), []).append(trial)
        return groups

    def _configuration(self, trial: str) -> tuple[str, str]:
        planned = self._trials[trial]
        return planned.arm, repr(sorted(planned.config.items()))

    def _mean(self, trials: Sequence[str]) -> list[float] | None:
        """Of a configuration's seeds that carry something, turned so that less is better; none where no seed does."""
        signs = [1.0 if objective.goal == "minimize" else -1.0 for objective in self._study.objectives]
        reached = [objective_values(self._known[trial].metrics or {}, self._study.choosing) for trial in trials]
        values = [each for each in reached if each is not None]
        return (np.array(signs) * np.mean(values, axis=0)).tolist() if values else None

    def _may_be_feasible(self, trials: Sequence[str]) -> bool:
        """Whether a seed of a configuration keeps the study's constraints, as far as it is known."""
        return any(feasible(self._known[trial].metrics or {}, self._study.bounds) is not False for trial in trials)

    def _is_over(self, trial: str) -> bool:
        return self._known[trial].state not in (TrialState.PLANNED, TrialState.RUNNING)

    def _is_at(self, trial: str, rung: int) -> bool:
        known = self._known[trial]
        return known.epoch == rung and known.state in (TrialState.RUNNING, TrialState.STOPPED)

    def _is_cut(self, arm: str) -> bool:
        """Whether some of its configurations would ever stop."""
        if self._halving is None or arm not in self._halved:
            return False
        own = self._arms[arm]
        count = len(own) // len({self._trials[trial].seed for trial in own})
        return self._halving.going_on(count) < count

    def _passed(self, trials: Sequence[str]) -> int:
        """The last rung that is behind one of them: what was decided there is in the log, which has its order."""
        if self._halving is None:
            return 0
        rungs = self._halving.rungs(self._trials[trials[0]].training.epochs)
        furthest = max(self._known[trial].epoch for trial in trials)
        return max((rung for rung in rungs if rung < furthest), default=0)


def known_of(trials: Iterable[KnownTrial]) -> dict[str, Known]:
    """By id, as the service tells of them. What runs is at the epoch that it reported last."""
    return {trial.id: _known(trial) for trial in trials}


def _known(trial: KnownTrial) -> Known:
    epoch = int(trial.metrics.get(EPOCH) or 0)
    if trial.is_over:
        return Known(epoch, trial.metrics, trial.state)
    return Known(epoch, trial.metrics, TrialState.RUNNING if epoch else TrialState.PLANNED)
