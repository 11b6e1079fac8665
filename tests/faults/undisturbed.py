"""A study trained here, cohort after cohort, without Ray, service or store: what nobody can have disturbed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import torch

from service.contract.study.expansion import PlannedTrial, expand
from service.contract.study.parsing import check_study
from service.contract.wire.events import Metrics
from tests.faults.holding import Told
from workers.planning.past import reached_by
from workers.planning.plan import Plan
from workers.planning.supply import Supply, searches_of
from workers.sending.files import keep
from workers.training.loop import train

SLOTS = 2


class Kept:
    """Takes the files of trials, as the service does."""

    given_up = None

    def __init__(self) -> None:
        self.weights: dict[str, bytes] = {}

    def put(self, trial: str, name: str, content: bytes) -> None:
        self.weights[trial] = content


def undisturbed(spec: Mapping[str, Any]) -> Told:
    study, kept = check_study(dict(spec)), Kept()
    trials = expand(study)
    plan = Plan({trial.id: trial for trial in trials}, study.data, study.evaluation, 1)
    planned = [trial for trial in trials if isinstance(trial, PlannedTrial)]
    supply = Supply(planned, searches_of(study, {}), SLOTS, study.resources.cohort)
    at_end = partial(keep, plan=plan, uploads=kept)  # type: ignore[arg-type]
    events: list[dict[str, Any]] = []
    known: dict[str, Any] = {}
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    while cohort := supply.next():
        last: dict[str, Metrics] = {}
        for report in train(cohort, study.data, study.evaluation, torch.device("cpu"), at_end=at_end):
            for trial, metrics in report.metrics.items():
                last[trial] = {**last.get(trial, {}), **metrics}
                points = [{**point, "metrics": _finite(point["metrics"])} for point in report.points.get(trial, [])]
                events.append({"kind": "report", "trial": trial, "metrics": _finite(metrics), "points": points})
        for member in cohort:
            known[member.id] = {"id": member.id, "arm": member.arm, "config": member.config}
            supply.tell(member.id, *reached_by(study, last[member.id]))
    torch.set_num_threads(threads)
    return Told({}, events, known, kept.weights)


def _finite(metrics: Metrics) -> dict[str, Any]:
    """As they travel."""
    return {name: value if value is not None and math.isfinite(value) else None for name, value in metrics.items()}
