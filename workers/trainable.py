"""What Ray Tune runs: one cohort, one report per epoch. Small and importable by name, so little is pickled."""

from __future__ import annotations

import json
import logging
import traceback
from typing import Any, NamedTuple

from service.contract.data import Data
from service.contract.errors import ParetoscopeError
from service.contract.expansion import PlannedTrial, resolve
from service.contract.study import Evaluation

log = logging.getLogger(__name__)

MEMBERS = "members"  # the key of a Tune trial's config: trial ids with the values a search suggested, as one text
REPORT = "report"  # the key of our part in a Tune result


class Plan(NamedTuple):
    """All trials of a study by id and what they share; Ray keeps it once per node."""

    trials: dict[str, PlannedTrial]
    data: Data
    evaluation: Evaluation
    cpus: float


def members_of(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """A cohort's trials with their suggested values; planned ones have none."""
    return dict(json.loads(config[MEMBERS]))


def train_cohort(config: dict[str, Any], plan: Plan) -> None:
    """Train the cohort `config["members"]`.

    An exception would come again, so it is reported as its members' failure; only a process that dies is
    left to Tune, which tries the cohort again.
    """
    members = members_of(config)
    try:
        _train([resolve(plan.trials[trial], values) for trial, values in members.items()], plan)
    except Exception as error:
        log.exception("cohort %s failed", config[MEMBERS])
        words = traceback.format_exception_only(error)[-1].strip()
        last = error.message if isinstance(error, ParetoscopeError) else words
        _send(None, {}, dict.fromkeys(members, last), final=True)


def _train(members: list[PlannedTrial], plan: Plan) -> None:
    import ray
    import torch

    from workers.training import train

    torch.set_num_threads(max(1, int(plan.cpus)))
    device = torch.device("cuda" if ray.get_gpu_ids() else "cpu")
    for report in train(members, plan.data, plan.evaluation, device):
        _send(report.epoch, report.metrics, report.failures, report.final)


def _send(
    epoch: int | None, metrics: dict[str, dict[str, float | None]], failures: dict[str, str], final: bool
) -> None:
    """As one text: Tune keeps running statistics of every number it finds in a result."""
    from ray import tune

    tune.report({REPORT: json.dumps({"epoch": epoch, "metrics": metrics, "failures": failures, "final": final})})
