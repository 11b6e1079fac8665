"""What Ray Tune runs: one cohort, one report per epoch. Small and importable by name, so little is pickled."""

from __future__ import annotations

import functools
import json
import logging
import os
import socket
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from service.contract.data import Data
from service.contract.errors import ParetoscopeError
from service.contract.expansion import PlannedTrial, resolve
from service.contract.study import Evaluation
from workers.logbook import Logbook

log = logging.getLogger(__name__)

MEMBERS = "members"  # the key of a Tune trial's config: trial ids with the values a search suggested, as one text
NAMED = 8  # members in the log's first line
REPORT = "report"  # the key of our part in a Tune result


class Plan(NamedTuple):
    """All trials of a study by id and what they share; Ray keeps it once per node."""

    trials: dict[str, PlannedTrial]
    data: Data
    evaluation: Evaluation
    cpus: float
    study_id: str = ""
    mapped_seeds: tuple[int, ...] = ()  # whose trials get a latent map


def members_of(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """A cohort's trials with their suggested values; planned ones have none."""
    return dict(json.loads(config[MEMBERS]))


def train_cohort(config: dict[str, Any], plan: Plan) -> None:
    """Train the cohort `config["members"]`.

    An exception would come again, so it is reported as its members' failure; only a process that dies is
    left to Tune, which tries the cohort again.
    """
    members = members_of(config)
    with Logbook() as logbook:
        try:
            _train([resolve(plan.trials[trial], values) for trial, values in members.items()], plan, logbook)
        except Exception as error:
            log.exception("the cohort failed")
            words = traceback.format_exception_only(error)[-1].strip()
            last = error.message if isinstance(error, ParetoscopeError) else words
            failures = dict.fromkeys(members, last)
            _send({"epoch": None, "metrics": {}, "failures": failures, "final": True, "log": logbook.take(last=True)})


def _train(members: list[PlannedTrial], plan: Plan, logbook: Logbook) -> None:
    import ray
    import torch

    from workers.training import train

    threads = max(1, int(plan.cpus))
    torch.set_num_threads(threads)
    device = torch.device("cuda" if ray.get_gpu_ids() else "cpu")
    where = f"{socket.gethostname()}, process {os.getpid()}, {device.type}, threads: {threads}"
    more = f" and {len(members) - NAMED} more" if len(members) > NAMED else ""
    names = ", ".join(trial.id for trial in members[:NAMED])
    log.info("cohort of %d on %s; members: %s%s", len(members), where, names, more)
    with _keeping(plan) as at_end:
        for report in train(members, plan.data, plan.evaluation, device, at_end=at_end):
            _send({**report._asdict(), "log": logbook.take(last=report.final)})


@contextmanager
def _keeping(plan: Plan) -> Iterator[Callable[..., None] | None]:
    """What sends a trained cohort's files to the service; none where nobody has to."""
    url = os.environ.get("PARETOSCOPE_URL")
    if not url or not (plan.evaluation.checkpoints or plan.evaluation.latent_map):
        yield None
        return
    from workers.artifacts import keep
    from workers.uploads import Uploads

    with Uploads(url, os.environ.get("PARETOSCOPE_TOKEN"), plan.study_id) as uploads:
        yield functools.partial(keep, plan=plan, uploads=uploads)


def _send(report: dict[str, Any]) -> None:
    """As one text: Tune keeps running statistics of every number it finds in a result."""
    from ray import tune

    tune.report({REPORT: json.dumps(report)})
