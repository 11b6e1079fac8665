"""Cohorts whose state was saved: after a restart, or with more epochs, they are formed again as they were."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from service.contract.study.expansion import PlannedTrial, Slot, resolve
from service.contract.study.extension import depends_on_epochs
from service.contract.wire.cohort_state import CohortState
from workers.planning.cohorts import Cohort


class Begun(NamedTuple):
    """A cohort, the last epoch in its saved state, and who had failed by then: a retry trains those elsewhere."""

    cohort: Cohort
    epoch: int
    gone: frozenset[str] = frozenset()

    @property
    def living(self) -> set[str]:
        return {trial.id for trial in self.cohort} - self.gone


def begun_of(states: Iterable[CohortState], trials: Mapping[str, PlannedTrial | Slot]) -> list[Begun]:
    """Those that can go on, the furthest first. A state of trials that the study does not have, or that another cohort
    has gone further with, is left alone: its trials start over."""
    begun: list[Begun] = []
    taken: set[str] = set()
    for state in sorted(states, key=lambda state: -state.epoch):
        known = all(trial in trials for trial in state.members)
        if known and taken.isdisjoint(state.living) and (cohort := _formed(state, trials)) is not None:
            begun.append(Begun(cohort, state.epoch, frozenset(state.failed)))
            taken.update(state.living)
    return begun


def _formed(state: CohortState, trials: Mapping[str, PlannedTrial | Slot]) -> Cohort | None:
    cohort: Cohort = []
    for trial, suggested in state.members.items():
        planned = trials[trial]
        try:
            cohort.append(resolve(planned, suggested) if isinstance(planned, Slot) else planned)
        except ValueError:  # of an older study under the same id, with other axes
            return None
    epochs = cohort[0].training.epochs
    if state.epochs not in (None, epochs) and any(depends_on_epochs(trial) for trial in cohort):
        return None
    return cohort
