"""`python -m workers.run_study <study id>`: the driver of one study, started as a Ray job.

Environment: PARETOSCOPE_URL, PARETOSCOPE_INSTANCE (which service is meant), PARETOSCOPE_TOKEN_PATH or PARETOSCOPE_CLAIM
(if the service wants a token), PARETOSCOPE_JOB (default: Ray's submission id). Exit codes: 0 the study is over, 1 it
failed and the service knows why, 3 Ray or the service was lost and the study should be started again.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from types import FrameType

from service.contract.metrics import SECONDS
from service.contract.study.data_paths import OPENED_BY, folders_of
from service.contract.study.domains import check_domains
from service.contract.study.expansion import expand
from service.contract.study.extension import depends_on_epochs
from service.contract.study.parsing import check_study
from service.contract.wire.errors import NotFound, OtherVersion, ParetoscopeError, Unavailable
from service.contract.wire.events import REASON_LENGTH, TrialState
from service.contract.wire.log_lines import LOG_FORMAT, log_to_stderr
from service.contract.wording.numbers import plural
from workers.data import data_folder
from workers.own_code.unpacking import FOLDER
from workers.planning.begun import begun_of
from workers.planning.past import past_of
from workers.planning.rounds import Round
from workers.planning.rungs import known_of
from workers.planning.work import Outcome, Work, together
from workers.sending.credentials import own_token
from workers.sending.reporter import Reporter
from workers.sending.study_client import StudyClient
from workers.sending.waiting import Waiting

log = logging.getLogger("workers.run_study")

DONE, FAILED, LOST = 0, 1, 3
LAST_EVENTS_SECONDS = 120.0
SCRATCH = "paretoscope-tune-"


def fetch(client: StudyClient) -> Work:
    """The study, those of its trials that are neither finished nor failed, and what its searches know."""
    known = client.study()
    study = check_study(known.spec)
    trials = list(client.trials())
    done = {trial.id: trial.state for trial in trials if trial.is_over}
    limited_from = known.limited_from or known.started_at
    begin = limited_from.timestamp() if limited_from else time.time()
    deadline = None if study.limits.seconds is None else begin + study.limits.seconds
    planned = {trial.id: trial for trial in expand(study)}
    left = [trial for trial in planned.values() if trial.id not in done]
    started = frozenset(trial.id for trial in trials if trial.started_at and trial.id not in done)
    begun = begun_of(client.cohorts(), planned)
    rounds = {
        t.id: Round(t.retries, t.extensions, depends_on_epochs(planned[t.id], t.config))
        for t in trials
        if t.retries or t.extensions
    }
    missing = {t.id: t.reason for t in trials if t.reason and t.state is TrialState.FINISHED}
    reported = any(trial.metrics for trial in trials)
    over, past = Counter(done.values()), past_of(study, trials)
    on_rungs = known_of(trials) if study.stopping else {}
    spent = {trial.id: seconds for trial in trials if (seconds := trial.metrics.get(SECONDS)) is not None}
    return Work(study, left, past, deadline, over, begun, missing, rounds, started, reported, on_rungs, spent)


def job_id(study_id: str) -> str:
    """Names this run in the uids of the study's last event, so that a second run can end the study again."""
    if given := os.environ.get("PARETOSCOPE_JOB"):
        return given
    config = json.loads(os.environ.get("RAY_JOB_CONFIG_JSON_ENV_VAR", "{}"))
    return str(config.get("metadata", {}).get("job_submission_id", study_id))


def drive(study_id: str, url: str, token: str | None) -> int:
    """Fetch, train, and say how it ended."""
    job = job_id(study_id)
    client = StudyClient(url, token, study_id, job=job)
    reporter = Reporter(client, job)
    _on_sigterm(reporter)
    try:
        work = fetch(client)
        reporter.rounds = work.rounds
        check_domains(work.study, data_folder(), folders_of(os.environ.get(OPENED_BY, "")))
        outcome = _train_everywhere(study_id, work, client, reporter)
    except (Unavailable, NotFound, OtherVersion, ConnectionError) as error:
        log.error("%s", error if isinstance(error, OtherVersion) else f"the service or Ray was lost: {error}")
        reporter.close(1.0)
        return LOST
    except Exception as error:
        log.exception("the driver failed")
        message = error.message if isinstance(error, ParetoscopeError) else str(error)
        reporter.study_failed(job, f"the study could not be trained: {message or type(error).__name__}")
        return FAILED if reporter.close(LAST_EVENTS_SECONDS) else LOST
    failure = None
    if outcome.paused:
        log.info("its cohorts have saved their states and left")
    elif reporter.ended.is_set():
        log.info("the study was over before this driver was")
    elif failure := _all_failed(work, reporter.failed, outcome) or _nothing_trained(work, reporter, outcome):
        reporter.study_failed(job, failure)
    else:
        lost = _missing({**work.missing, **reporter.missing})
        reason = "; ".join(filter(None, (outcome.reason, lost))) or None
        reporter.study_finished(job, reason, outcome.spared)
    if not reporter.close(LAST_EVENTS_SECONDS) or reporter.other_version:
        return LOST
    return FAILED if failure else DONE


def _missing(files: Mapping[str, str]) -> str | None:
    """What a finished study lacks."""
    if not files:
        return None
    first = next(iter(files.values()))
    return f"files of {plural(len(files), 'trial')} are missing; the first: {first}"[:REASON_LENGTH]


def _all_failed(work: Work, failed: Mapping[str, str], outcome: Outcome) -> str | None:
    """Why a study has nothing to show: none of its trials was trained to the end, and none is left to train."""
    wanted = {trial.id for trial in work.trials}.difference(outcome.spared)
    trained = work.over[TrialState.FINISHED] or work.over[TrialState.STOPPED]
    if trained or not (failed or work.over[TrialState.FAILED]) or not wanted <= failed.keys():
        return None
    first = f"; the first: {next(iter(failed.values()))}" if failed else ""
    return f"every trial failed ({plural(work.over[TrialState.FAILED] + len(failed), 'trial')}){first}"


def _nothing_trained(work: Work, reporter: Reporter, outcome: Outcome) -> str | None:
    """Why a study that has no report of any trial, now or before, is none that finished."""
    if work.reported or reporter.reported or work.over[TrialState.FINISHED]:
        return None
    return f"nothing was trained: {outcome.reason}" if outcome.reason else "nothing was trained"


def sweep_scratch() -> None:
    """Remove what drivers left that were killed on this machine."""
    places = Path(tempfile.gettempdir())
    for folder in chain(places.glob(f"{SCRATCH}*"), places.glob(f"{FOLDER}*")):
        process = folder.name.split("-")[2]
        if process.isdecimal() and not Path(f"/proc/{process}").exists() and folder.stat().st_uid == os.getuid():
            shutil.rmtree(folder, ignore_errors=True)


def _train_everywhere(study_id: str, work: Work, client: StudyClient, reporter: Reporter) -> Outcome:
    """On Ray what is trained here, while others train what is not; Ray is not needed where nothing is trained here."""
    here, there = work.part(elsewhere=False), work.part(elsewhere=True)
    if not there.trials and len(work.study.arms_elsewhere) < len(work.study.arms):
        return _train(study_id, here, reporter)
    waiting = Waiting(there, client, reporter)
    if not here.trials:
        return waiting.run()
    with ThreadPoolExecutor(1, "elsewhere") as beside:
        elsewhere = beside.submit(waiting.run)
        try:
            outcome = _train(study_id, here, reporter)
        except BaseException:
            waiting.stop.set()
            raise
    return together(work.study, outcome, elsewhere.result())


def _train(study_id: str, work: Work, reporter: Reporter) -> Outcome:
    """Ray is imported only here: a study that is refused needs none of it."""
    from workers.on_ray import driver
    from workers.on_ray.cluster import connected

    sweep_scratch()
    scratch = Path(tempfile.mkdtemp(prefix=f"{SCRATCH}{os.getpid()}-"))
    try:
        with connected():
            _on_sigterm(reporter, scratch)  # Ray has put its own handler there
            return driver.run(study_id, work, reporter, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _on_sigterm(reporter: Reporter, scratch: Path | None = None) -> None:
    """Cancelled: send what is there and leave at once; Ray ends the workers of a driver that is gone."""

    def leave(number: int, frame: FrameType | None) -> None:
        reporter.close(0.5)
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, leave)


def main(arguments: list[str]) -> int:
    url = os.environ.get("PARETOSCOPE_URL")
    known = {"study": arguments[0], "job": job_id(arguments[0])} if arguments else {}
    log_to_stderr(os.environ.get(LOG_FORMAT, "auto"), **known)
    if len(arguments) != 1 or not url:
        log.error("usage: PARETOSCOPE_URL=http://… python -m workers.run_study STUDY")
        return 2
    try:
        token = own_token(url, arguments[0])
    except (Unavailable, OtherVersion) as error:
        log.error("%s", error.message)
        return LOST
    return drive(arguments[0], url, token)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
