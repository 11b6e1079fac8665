"""What a driver has to do, and how it went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from service.contract.study.expansion import PlannedTrial, Slot, expand
from service.contract.study.study import Study
from service.contract.wire.events import TrialState
from service.contract.wording.numbers import setting
from workers.planning.begun import Begun
from workers.planning.ending import Ended
from workers.planning.past import Past
from workers.planning.rounds import Round
from workers.planning.rungs import Known

ALL_NEEDED = Ended()


class Work(NamedTuple):
    """What the log does not have yet, what it has of searches, and until when there is time (seconds since 1970)."""

    study: Study
    trials: list[PlannedTrial | Slot]
    past: dict[str, Past]
    deadline: float | None
    over: Counter[TrialState]  # trials that the log has as ended, by how
    begun: list[Begun]  # cohorts whose state was saved
    missing: dict[str, str]  # of trials that the log has as finished, what could not be kept
    rounds: dict[str, Round]  # of trials that were retried or extended
    started: frozenset[str]  # trials that the log has as started but not as ended
    reported: bool = False  # whether the log has a report of any trial
    known: Mapping[str, Known] = MappingProxyType({})  # what it has of each, where trials are compared before their end
    spent: Mapping[str, float] = MappingProxyType({})  # seconds of training, by trial

    def part(self, elsewhere: bool) -> Work:
        """With those trials alone that are trained on Ray, or with the others."""
        arms = self.study.arms_elsewhere
        return self._replace(trials=[trial for trial in self.trials if (trial.arm in arms) is elsewhere])


class Outcome(NamedTuple):
    """Whether trials are left because the study is paused; else why some are, if they are."""

    reason: str | None = None
    paused: bool = False
    late: int = 0  # trials that the time limit left
    spared: tuple[str, ...] = ()  # trials that were not needed


def out_of_time(study: Study, left: int, end: Ended = ALL_NEEDED) -> Outcome:
    """`left` are those that were wanted: without what was spared."""
    seconds, total = setting(study.limits.seconds), len(expand(study)) - len(end.spared)
    reason = f"time limit of {seconds} s reached, {left} of {total} trials not trained"
    return Outcome("; ".join(filter(None, (reason, end.reason))), late=left, spared=end.spared)


def all_over(end: Ended) -> Outcome:
    """Every trial that was wanted is over."""
    return Outcome(end.reason or None, spared=end.spared)


def together(study: Study, here: Outcome, elsewhere: Outcome) -> Outcome:
    """Of a study of which some trials are trained here and some are not."""
    if here.paused or elsewhere.paused:
        return Outcome(paused=True)
    late, spared = here.late + elsewhere.late, (*here.spared, *elsewhere.spared)
    if late:
        return out_of_time(study, late, Ended(spared))
    return Outcome("; ".join(filter(None, (here.reason, elsewhere.reason))) or None, spared=spared)
