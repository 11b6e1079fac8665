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
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import httpx

from service.contract.errors import ParetoscopeError
from service.contract.expansion import PlannedTrial, expand
from service.contract.parsing import check_study
from service.contract.study import Study
from workers.reporting import Reporter
from workers.searches.past import Past, past_of

log = logging.getLogger("workers.run_study")

DONE, FAILED, LOST = 0, 1, 3
FETCH_SECONDS = 60.0
LAST_EVENTS_SECONDS = 120.0
PAGE = 1000


class Work(NamedTuple):
    """What the log does not have yet, what it has of searches, and until when there is time (seconds since 1970)."""

    study: Study
    trials: list[PlannedTrial]
    past: dict[str, Past]
    deadline: float | None


def fetch(client: httpx.Client, study_id: str) -> Work:
    """The study, those of its trials that are neither finished nor failed, and what its searches know."""
    answer = _get(client, f"/api/studies/{study_id}")
    study = check_study(answer["spec"])
    trials = list(_trials(client, study_id))
    done = {t["id"] for t in trials if t["state"] in ("finished", "failed")}
    started = answer.get("started_at")
    begin = datetime.fromisoformat(started).timestamp() if started else time.time()
    deadline = None if study.limits.seconds is None else begin + study.limits.seconds
    left = [trial for trial in expand(study) if trial.id not in done]
    return Work(study, left, past_of(study, trials), deadline)


def _trials(client: httpx.Client, study_id: str) -> Iterator[dict[str, Any]]:
    after: str | None = None
    while True:
        query: dict[str, str | int] = {"limit": PAGE} if after is None else {"limit": PAGE, "after": after}
        page = _get(client, f"/api/studies/{study_id}/trials", query)
        yield from page["trials"]
        after = page.get("next")
        if after is None:
            return


def _get(client: httpx.Client, path: str, query: dict[str, str | int] | None = None) -> dict[str, Any]:
    """The service may just be starting again: ask until it answers."""
    deadline = time.monotonic() + FETCH_SECONDS
    while True:
        try:
            answer = client.get(path, params=query)
            if answer.status_code < 500:
                answer.raise_for_status()
                return dict(answer.json())
        except httpx.TransportError:
            if time.monotonic() > deadline:
                raise
        if time.monotonic() > deadline:
            raise httpx.ConnectError(f"{path} answers {answer.status_code}")
        time.sleep(0.5)


def job_id(study_id: str) -> str:
    """Names this run in the uids of the study's last event, so that a second run can end the study again."""
    if given := os.environ.get("PARETOSCOPE_JOB"):
        return given
    config = json.loads(os.environ.get("RAY_JOB_CONFIG_JSON_ENV_VAR", "{}"))
    return str(config.get("metadata", {}).get("job_submission_id", study_id))


def drive(study_id: str, url: str, token: str | None) -> int:
    """Fetch, train, and say how it ended."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    reporter = Reporter(url, token, study_id)
    _on_sigterm(reporter)
    job = job_id(study_id)
    try:
        with httpx.Client(base_url=url, headers=headers, timeout=30, trust_env=False) as client:
            work = fetch(client, study_id)
        reason = _train(study_id, work, reporter)
    except (httpx.HTTPError, ConnectionError) as error:
        log.error("the service or Ray was lost: %s", error)
        reporter.close(1.0)
        return LOST
    except Exception as error:
        log.exception("the driver failed")
        message = error.message if isinstance(error, ParetoscopeError) else str(error)
        reporter.study_failed(job, f"the study could not be trained: {message or type(error).__name__}")
        return FAILED if reporter.close(LAST_EVENTS_SECONDS) else LOST
    if not reporter.ended.is_set():
        reporter.study_finished(job, reason)
    return DONE if reporter.close(LAST_EVENTS_SECONDS) else LOST


def _train(study_id: str, work: Work, reporter: Reporter) -> str | None:
    """Ray is imported only here: a study that is refused needs none of it."""
    import ray

    from workers import driver

    scratch = Path(tempfile.mkdtemp(prefix="paretoscope-tune-"))
    try:
        ray.init(address="auto", log_to_driver=False, logging_level=logging.WARNING)
        _on_sigterm(reporter, scratch)  # Ray has put its own handler there
        return driver.run(study_id, work.study, work.trials, work.past, reporter, work.deadline, scratch)
    except ray.exceptions.RayError as error:
        raise ConnectionError(f"Ray: {error}") from error
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
