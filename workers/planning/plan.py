"""What every cohort of a study is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pydantic import SecretStr

from service.contract.methods.data import Data
from service.contract.methods.own_description import Code
from service.contract.study.expansion import PlannedTrial, Slot, resolve
from service.contract.study.study import Evaluation
from service.contract.wire.events import Setting


class Plan(NamedTuple):
    """All trials of a study by id and what they share; Ray keeps it once per node."""

    trials: dict[str, PlannedTrial | Slot]
    data: Data
    evaluation: Evaluation
    cpus: float
    study_id: str = ""
    mapped_seeds: tuple[int, ...] = ()  # whose trials get a latent map
    token: SecretStr | None = None  # for the service; its text is in no log and no repr
    code: Code | None = None  # of the study's own; its files are fetched where they are run
    deadline: float | None = None  # of the study, seconds since 1970
    processes: int = 1  # of cohorts that may run at once on a machine
    at_rungs: Evaluation | None = None  # what is measured where trials are compared; none: as everywhere
    clocked: bool = False  # its cohorts end when their arm has spent its training seconds

    def trial(self, trial_id: str, suggested: Mapping[str, Setting]) -> PlannedTrial:
        """With every value: a slot has those that were suggested for it."""
        planned = self.trials[trial_id]
        return resolve(planned, suggested) if isinstance(planned, Slot) else planned
