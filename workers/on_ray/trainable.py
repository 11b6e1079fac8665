"""What Ray Tune runs: one cohort, one report per epoch. Small and importable by name, so little is pickled."""

from __future__ import annotations

import functools
import json
import logging
import os
import socket
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from service.contract.study.expansion import PlannedTrial
from service.contract.wire.epoch_report import EpochReport
from service.contract.wire.errors import ParetoscopeError
from service.contract.wire.events import Setting
from workers.planning.plan import Plan
from workers.sending.logbook import Logbook

log = logging.getLogger(__name__)

MEMBERS = "members"  # the key of a Tune trial's config: trial ids with the values a search suggested, as one text
NAMED = 8  # members in the log's first line
REPORT = "report"  # the key of our part in a Tune result


def members_of(config: Mapping[str, str]) -> dict[str, dict[str, Setting]]:
    """A cohort's trials with their suggested values; planned ones have none."""
    return dict(json.loads(config[MEMBERS]))


def report_of(result: Mapping[str, object]) -> EpochReport | None:
    """What the cohort says in a result of Ray Tune; none in what Tune itself reports at a trial's end."""
    return EpochReport.model_validate_json(str(result[REPORT])) if REPORT in result else None


def train_cohort(config: Mapping[str, str], plan: Plan) -> None:
    """Train the cohort `config["members"]`.

    An exception would come again, so it is reported as its members' failure; only a process that dies is
    left to Tune, which tries the cohort again.
    """
    members = members_of(config)
    with Logbook() as logbook:
        try:
            _train([plan.trial(trial, suggested) for trial, suggested in members.items()], plan, logbook)
        except Exception as error:
            log.exception("the cohort failed")
            words = traceback.format_exception_only(error)[-1].strip()
            last = error.message if isinstance(error, ParetoscopeError) else words
            failures = dict.fromkeys(members, last)
            lines = logbook.new_lines(last=True)
            _send(EpochReport(epoch=0, metrics={}, failures=failures, final=True, log=lines))


def _train(members: list[PlannedTrial], plan: Plan, logbook: Logbook) -> None:
    import ray
    import torch

    from workers.training.loop import train

    threads = max(1, int(plan.cpus))
    torch.set_num_threads(threads)
    device = torch.device("cuda" if ray.get_gpu_ids() else "cpu")
    where = f"{socket.gethostname()}, process {os.getpid()}, {device.type}, threads: {threads}"
    more = f" and {len(members) - NAMED} more" if len(members) > NAMED else ""
    names = ", ".join(trial.id for trial in members[:NAMED])
    log.info("cohort of %d on %s; members: %s%s", len(members), where, names, more)
    with _keeping(plan) as at_end:
        for report in train(members, plan.data, plan.evaluation, device, at_end=at_end):
            _send(report.model_copy(update={"log": logbook.new_lines(last=report.final)}))


@contextmanager
def _keeping(plan: Plan) -> Iterator[Callable[..., None] | None]:
    """What sends a trained cohort's files to the service; none where nobody has to."""
    url = os.environ.get("PARETOSCOPE_URL")
    if not url or not (plan.evaluation.checkpoints or plan.evaluation.latent_map):
        yield None
        return
    from workers.sending.files import keep
    from workers.sending.study_client import StudyClient
    from workers.sending.uploads import Uploads

    with StudyClient(url, os.environ.get("PARETOSCOPE_TOKEN"), plan.study_id) as client:
        yield functools.partial(keep, plan=plan, uploads=Uploads(client))


def _send(report: EpochReport) -> None:
    """As one text: Tune keeps running statistics of every number it finds in a result."""
    from ray import tune

    tune.report({REPORT: report.model_dump_json()})
