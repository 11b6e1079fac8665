"""What a driver has to do, and how it went."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from service.contract.study.expansion import PlannedTrial, Slot, expand
from service.contract.study.study import Study
from service.contract.wire.events import TrialState
from service.contract.wording.numbers import setting
from workers.planning.begun import Begun
from workers.planning.past import Past
from workers.planning.rounds import Round


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

    def part(self, elsewhere: bool) -> Work:
        """With those trials alone that are trained on Ray, or with the others."""
        arms = self.study.arms_elsewhere
        return self._replace(trials=[trial for trial in self.trials if (trial.arm in arms) is elsewhere])


class Outcome(NamedTuple):
    """Whether trials are left because the study is paused; else why some are, if they are."""

    reason: str | None = None
    paused: bool = False
    late: int = 0  # trials that the time limit left


def out_of_time(study: Study, left: int) -> Outcome:
    seconds, total = setting(study.limits.seconds), len(expand(study))
    return Outcome(f"time limit of {seconds} s reached, {left} of {total} trials not trained", late=left)


def together(study: Study, here: Outcome, elsewhere: Outcome) -> Outcome:
    """Of a study of which some trials are trained here and some are not."""
    if here.paused or elsewhere.paused:
        return Outcome(paused=True)
    late = here.late + elsewhere.late
    return out_of_time(study, late) if late else here
