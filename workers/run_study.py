"""`python -m workers.run_study <study id>`: the driver of one study, started as a Ray job.

Environment: PARETOSCOPE_URL, PARETOSCOPE_TOKEN (if the service wants one), PARETOSCOPE_JOB (default: Ray's
submission id). Exit codes: 0 the study is over, 1 it failed and the service knows why, 3 Ray or the service
was lost and the study should be started again.
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
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from service.contract.study.expansion import PlannedTrial, Slot, expand
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from service.contract.wire.errors import NotFound, ParetoscopeError, Unavailable
from service.contract.wire.events import TrialState
from service.contract.wording.numbers import plural
from workers.planning.past import Past, past_of
from workers.sending.reporter import Reporter
from workers.sending.study_client import StudyClient

log = logging.getLogger("workers.run_study")

DONE, FAILED, LOST = 0, 1, 3
LAST_EVENTS_SECONDS = 120.0


class Work(NamedTuple):
    """What the log does not have yet, what it has of searches, and until when there is time (seconds since 1970)."""

    study: Study
    trials: list[PlannedTrial | Slot]
    past: dict[str, Past]
    deadline: float | None
    over: Counter[TrialState]  # trials that the log has as ended, by how


def fetch(client: StudyClient) -> Work:
    """The study, those of its trials that are neither finished nor failed, and what its searches know."""
    known = client.study()
    study = check_study(known.spec)
    trials = list(client.trials())
    done = {trial.id: trial.state for trial in trials if trial.state.is_over()}
    begin = known.started_at.timestamp() if known.started_at else time.time()
    deadline = None if study.limits.seconds is None else begin + study.limits.seconds
    left = [trial for trial in expand(study) if trial.id not in done]
    return Work(study, left, past_of(study, trials), deadline, Counter(done.values()))


def job_id(study_id: str) -> str:
    """Names this run in the uids of the study's last event, so that a second run can end the study again."""
    if given := os.environ.get("PARETOSCOPE_JOB"):
        return given
    config = json.loads(os.environ.get("RAY_JOB_CONFIG_JSON_ENV_VAR", "{}"))
    return str(config.get("metadata", {}).get("job_submission_id", study_id))


def drive(study_id: str, url: str, token: str | None) -> int:
    """Fetch, train, and say how it ended."""
    client = StudyClient(url, token, study_id)
    reporter = Reporter(client)
    _on_sigterm(reporter)
    job = job_id(study_id)
    try:
        work = fetch(client)
        reason = _train(study_id, work, reporter)
    except (Unavailable, NotFound, ConnectionError) as error:
        log.error("the service or Ray was lost: %s", error)
        reporter.close(1.0)
        return LOST
    except Exception as error:
        log.exception("the driver failed")
        message = error.message if isinstance(error, ParetoscopeError) else str(error)
        reporter.study_failed(job, f"the study could not be trained: {message or type(error).__name__}")
        return FAILED if reporter.close(LAST_EVENTS_SECONDS) else LOST
    if failure := _all_failed(work, reporter.failed):
        reporter.study_failed(job, failure)
    else:
        reporter.study_finished(job, reason)
    if not reporter.close(LAST_EVENTS_SECONDS):
        return LOST
    return FAILED if failure else DONE


def _all_failed(work: Work, failed: Mapping[str, str]) -> str | None:
    """Why a study has nothing to show: none of its trials was trained to the end, and none is left to train."""
    if work.over[TrialState.FINISHED] or any(trial.id not in failed for trial in work.trials):
        return None
    first = f"; the first: {next(iter(failed.values()))}" if failed else ""
    return f"every trial failed ({plural(work.over[TrialState.FAILED] + len(failed), 'trial')}){first}"


def _train(study_id: str, work: Work, reporter: Reporter) -> str | None:
    """Ray is imported only here: a study that is refused needs none of it."""
    from workers.on_ray import driver
    from workers.on_ray.cluster import connected

    scratch = Path(tempfile.mkdtemp(prefix="paretoscope-tune-"))
    try:
        with connected():
            _on_sigterm(reporter, scratch)  # Ray has put its own handler there
            return driver.run(study_id, work.study, work.trials, work.past, reporter, work.deadline, scratch)
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
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    url = os.environ.get("PARETOSCOPE_URL")
    if len(arguments) != 1 or not url:
        log.error("usage: PARETOSCOPE_URL=http://… python -m workers.run_study STUDY")
        return 2
    return drive(arguments[0], url, os.environ.get("PARETOSCOPE_TOKEN"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
