"""What a driver has to do, and how it went."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from service.contract.study.expansion import PlannedTrial, Slot
from service.contract.study.study import Study
from service.contract.wire.events import TrialState
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


class Outcome(NamedTuple):
    """Whether trials are left because the study is paused; else why some are, if they are."""

    reason: str | None = None
    paused: bool = False
