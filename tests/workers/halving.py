"""A study with rungs, trained in this process as drivers and cohorts do it: one cohort after another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch

from service.contract.study.expansion import PlannedTrial, expand
from service.contract.study.study import Study
from service.contract.wire.epoch_report import EpochReport
from service.contract.wire.events import Metrics
from tests.planned import planned
from workers.planning.rungs import Known, Rungs, Stopped
from workers.planning.supply import Supply
from workers.sending.cohort_state import packed, unpacked
from workers.training.loop import Progress, Rung, train
from workers.training.shrinking import shrunk

CPU = torch.device("cpu")


class Ran(NamedTuple):
    """What came of it: by trial its last metrics, and who was stopped; the cohorts, in their order."""

    metrics: dict[str, Metrics]
    stopped: list[Stopped]
    cohorts: list[list[str]]


def run(study: Study, slots: int = 2, known: Mapping[str, Known] | None = None) -> Ran:
    """States go through the content of a file, as they do between processes."""
    rungs = Rungs(study, expand(study), known or {}) if study.stopping else None
    supply = Supply(planned(study), [], slots, study.resources.cohort, rungs=rungs)
    states: dict[tuple[str, ...], bytes] = {}
    ran = Ran({}, supply.decide(), [])
    while not supply.is_over:
        cohort = supply.next()
        assert cohort is not None, "somebody waits, and nobody trains"
        ran.cohorts.append([trial.id for trial in cohort])
        _train(study, supply, cohort, states, ran)
    return ran


def _train(
    study: Study, supply: Supply, cohort: list[PlannedTrial], states: dict[tuple[str, ...], bytes], ran: Ran
) -> None:
    def save(progress: Progress, report: EpochReport) -> None:
        states[tuple(trial.id for trial in cohort)] = packed({trial.id: {} for trial in cohort}, progress, [])

    until, source = supply.until(cohort), supply.source_of(cohort) or cohort
    content = states.get(tuple(trial.id for trial in source))
    begun = shrunk(unpacked(content).progress, source, cohort) if content else None
    rung = Rung(until, study.evaluation_at_rungs, save) if until else None
    for report in train(cohort, study.data, study.evaluation, CPU, begun=begun, rung=rung):
        for trial, metrics in report.metrics.items():
            ran.metrics[trial] = {**ran.metrics.get(trial, {}), **metrics}
        for trial in report.failures:
            ran.stopped.extend(supply.ended(trial, failed=True))
        if report.rests:
            ran.stopped.extend(supply.rested(report.epoch, report.metrics))
        if report.final:
            for trial in report.metrics:
                ran.stopped.extend(supply.ended(trial, failed=False))
