"""What Ray Tune runs: one cohort, one report per epoch. Small and importable by name, so little is pickled."""

from __future__ import annotations

import functools
import json
import logging
import os
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from service.contract.study.expansion import PlannedTrial
from service.contract.wire.epoch_report import EpochReport
from service.contract.wire.errors import ParetoscopeError
from service.contract.wire.events import Setting
from workers.own_code.watching import PAUSED
from workers.planning.cohorts import TooLarge, runs_alone
from workers.planning.plan import Plan
from workers.sending.logbook import Logbook
from workers.sending.saving import SAVE_SECONDS, Saving
from workers.sending.study_client import StudyClient

if TYPE_CHECKING:
    from workers.own_code.loaded import LoadedCode
    from workers.own_code.watching import Watch
    from workers.sending.cohort_state import Saved
    from workers.training.loop import Progress

log = logging.getLogger(__name__)

MEMBERS = "members"  # the key of a Tune trial's config: trial ids with the values a search suggested, as one text
GONE = "gone"  # the key of those of them that had failed before the cohort was saved, as one text
UNTIL = "until"  # the key of the epoch at which the cohort rests, where it does before its last one
SOURCE = "source"  # the key of the cohort from whose state it goes on, as one text: some of its members have left
NAMED = 8  # members in the log's first line
NOTICE_SECONDS = 5.0  # in which a script that is to stop may do so by itself, as `up` waits 10 for it
REPORT = "report"  # the key of our part in a Tune result


def members_of(config: Mapping[str, str]) -> dict[str, dict[str, Setting]]:
    """A cohort's trials with their suggested values; planned ones have none."""
    return dict(json.loads(config[MEMBERS]))


def living_of(config: Mapping[str, str]) -> dict[str, dict[str, Setting]]:
    """Those that are told of: a member that had failed may be in training elsewhere."""
    gone = json.loads(config.get(GONE, "[]"))
    return {trial: values for trial, values in members_of(config).items() if trial not in gone}


def report_of(result: Mapping[str, object]) -> EpochReport | None:
    """What the cohort says in a result of Ray Tune; none in what Tune itself reports at a trial's end."""
    return _parsed(str(result[REPORT])) if REPORT in result else None


@functools.lru_cache(maxsize=1)  # Tune shows a result to the stopper, and then to the recorder
def _parsed(report: str) -> EpochReport:
    return EpochReport.model_validate_json(report)


def train_cohort(config: Mapping[str, str], plan: Plan) -> None:
    """Train the cohort `config["members"]`.

    An exception would happen again, so it is reported as its members' failure; only a process that dies is
    left to Tune, which tries the cohort again.
    """
    members = members_of(config)
    with Logbook() as logbook:
        try:
            with _service(plan) as client:
                _train(config, plan, logbook, client)
        except _Stopped:
            sys.exit(0)  # as Tune wants it: the process is free for the next cohort
        except (Exception, SystemExit) as error:  # noqa: BLE001 - what user code raises ends its trials, not others
            _tell("the cohort failed", error)
            words = traceback.format_exception_only(error)[-1].strip()
            last = error.message if isinstance(error, ParetoscopeError) else words
            failures = dict.fromkeys(members, last)
            lines = logbook.new_lines(last=True)
            _send(EpochReport(epoch=0, metrics={}, failures=failures, final=True, log=lines))


def _train(config: Mapping[str, str], plan: Plan, logbook: Logbook, client: StudyClient | None) -> None:
    """From where the cohort was left, if it was; what the log may lack of that is said again."""
    suggested, until = members_of(config), int(config[UNTIL]) if UNTIL in config else None
    saving = Saving(client, suggested, _save_seconds()) if client else None
    members = [plan.trial(trial, values) for trial, values in suggested.items()]
    try:
        saved = _left(config, members, plan, saving) if saving else None
        if saving:
            _send(_words(saved.progress.epoch if saved else 0, begins=True))
        for report in _said_before(saved.reports, until or members[0].training.epochs) if saved else ():
            _send(report)
            if report.final or report.rests:
                return
        with _watch(plan, saving, members) as watch:
            try:
                for report in _reports(members, plan, client, saved.progress if saved else None, saving, watch, until):
                    if watch:
                        watch.heard()
                    if saving:
                        saving.said(report)
                    _send(report.model_copy(update={"log": logbook.new_lines(last=report.final)}))
            except TooLarge as error:
                log.info("%s", error)
                _send(_words(0, log=logbook.new_lines(last=True)).model_copy(update={"most": error.most}))
                return
            except Exception as error:
                if watch is None or watch.ended != PAUSED:
                    raise
                _tell(f"{PAUSED}: what had not reported for long begins anew later", error)
                _send(_words(0, leaves=True, log=logbook.new_lines(last=True)))
                return
        if saving and saving.left:
            log.info("%s: what is saved goes on later", PAUSED)
            _send(_words(0, leaves=True, log=logbook.new_lines(last=True)))
    finally:
        if saving:
            saving.close()


def _watch(plan: Plan, saving: Saving | None, members: list[PlannedTrial]) -> AbstractContextManager[Watch | None]:
    """Over user code, which may hang: it is ended at the study's time limit, and made to leave when it should have; a
    problem also where a batch does not end. A script may say nothing for days."""
    if plan.code is None:
        return nullcontext()
    from workers.own_code.watching import LEAST_SECONDS, SETTING, SILENT_SECONDS, Watch

    def unwanted() -> str | None:
        if plan.deadline is not None and time.time() >= plan.deadline:
            return "the study's limits.seconds is over"
        return PAUSED if saving and saving.asked_for > NOTICE_SECONDS else None

    most = float(os.environ.get(SETTING) or SILENT_SECONDS)
    return Watch(unwanted, least=LEAST_SECONDS, most=None if runs_alone(members[0]) else most)


def _tell(words: str, error: BaseException) -> None:
    """In the log: of a fault in the user's code the way through their files, of any other all of it."""
    from workers.own_code.errors import CodeError

    if isinstance(error, CodeError):
        log.error("%s: %s", words, error.told)
    else:
        log.error("%s", words, exc_info=error)


def _left(config: Mapping[str, str], members: list[PlannedTrial], plan: Plan, saving: Saving) -> Saved | None:
    """Where these members were left: by themselves, or with others that have stopped since."""
    saved = saving.saved()
    if saved is not None or SOURCE not in config:
        return saved
    source = [plan.trial(trial, {}) for trial in json.loads(config[SOURCE])]
    whole = saving.saved({trial.id: {} for trial in source})
    if whole is None:
        return None
    from workers.training.shrinking import shrunk

    return whole._replace(progress=shrunk(whole.progress, source, members), reports=[])


def _said_before(reports: Sequence[EpochReport], epochs: int) -> list[EpochReport]:
    """As they are said again: what was the last report of fewer epochs is the last no more."""
    none: dict[str, object] = {"final": False, "rests": False, "missing": {}}
    return [report if report.epoch >= epochs else report.model_copy(update=none) for report in reports]


def _reports(
    members: list[PlannedTrial],
    plan: Plan,
    client: StudyClient | None,
    begun: Progress | None,
    saving: Saving | None,
    watch: Watch | None,
    until: int | None = None,
) -> Iterator[EpochReport]:
    import ray
    import torch

    from workers.training.loop import Rung, train

    threads = max(1, int(plan.cpus))
    torch.set_num_threads(threads)
    gpus = ", ".join(str(each) for each in ray.get_gpu_ids())
    device = torch.device("cuda" if gpus and torch.cuda.is_available() else "cpu")
    where = f"{socket.gethostname()}, process {os.getpid()}, {device.type}, threads: {threads}"
    if gpus:
        where += f", GPU of Ray: {gpus}"
    if gpus and device.type == "cpu":  # Ray counts what its node was told to have
        log.warning("Ray gave this cohort GPU %s, but torch can use none here: it trains on the CPU", gpus)
    more = f" and {len(members) - NAMED} more" if len(members) > NAMED else ""
    names = ", ".join(trial.id for trial in members[:NAMED])
    log.info("cohort of %d on %s; members: %s%s", len(members), where, names, more)
    code = _own_code(plan, client, watch, may_be_cut=begun is None)
    if code is not None and runs_alone(members[0]):
        from workers.own_code.script import run_script

        return run_script(code, members[0], begun, saving, watch=watch)
    return train(
        members,
        plan.data,
        plan.evaluation,
        device,
        at_end=_keeping(plan, client),
        begun=begun,
        between=saving,
        at_last=saving.keep if saving and _keeps_state(plan) else None,
        code=code,
        rung=Rung(until, plan.at_rungs or plan.evaluation, saving.keep if saving else None) if until else None,
        clocked=plan.clocked,
    )


def _own_code(plan: Plan, client: StudyClient | None, watch: Watch | None, may_be_cut: bool) -> LoadedCode | None:
    """The study's own, fetched and imported; none where its problems are ours."""
    if plan.code is None or client is None:
        return None
    from workers.own_code.loaded import LoadedCode
    from workers.own_code.room import limit_memory
    from workers.own_code.unpacking import unpacked

    limit_memory(plan.processes)
    return LoadedCode(unpacked(client.code()), plan.code.entry, watch.alive if watch else None, may_be_cut)


@contextmanager
def _service(plan: Plan) -> Iterator[StudyClient | None]:
    """The service that states and files are sent to; none where there is none."""
    url = os.environ.get("PARETOSCOPE_URL")
    if not url:
        yield None
        return
    with StudyClient(url, plan.token.get_secret_value() if plan.token else None, plan.study_id) as client:
        yield client


def _keeping(plan: Plan, client: StudyClient | None) -> Callable[..., dict[int, str]] | None:
    """What sends a trained cohort's files to the service; none where nobody has to."""
    if client is None or not (plan.evaluation.checkpoints or plan.evaluation.latent_map):
        return None
    from workers.sending.files import keep
    from workers.sending.uploads import Uploads

    return functools.partial(keep, plan=plan, uploads=Uploads(client))


def _keeps_state(plan: Plan) -> bool:
    """Whether what the cohort is at its end stays with the service, for more epochs."""
    wanted = os.environ.get("PARETOSCOPE_FINAL_STATES") or "checkpoints"
    return wanted == "always" or (wanted == "checkpoints" and plan.evaluation.checkpoints)


def _save_seconds() -> float:
    return float(os.environ.get("PARETOSCOPE_SAVE_SECONDS") or SAVE_SECONDS)


def _words(epoch: int, begins: bool = False, leaves: bool = False, log: Sequence[str] = ()) -> EpochReport:
    """What a cohort says that is about no epoch's metrics."""
    return EpochReport(epoch=epoch, metrics={}, failures={}, final=False, begins=begins, leaves=leaves, log=list(log))


class _Stopped(BaseException):
    """Tune ends this cohort: not user code that leaves, of which its members would have failed."""


def _send(report: EpochReport) -> None:
    """As one text: Tune keeps running statistics of every number it finds in a result."""
    from ray import tune

    try:
        tune.report({REPORT: report.model_dump_json()})
    except SystemExit as end:
        raise _Stopped from end
