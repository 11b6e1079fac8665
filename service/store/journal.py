"""What the service's log says of what was written: each event of a study, and each trial that failed."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from service.contract.wire.events import Event, StudyEvent, StudyFailed, StudyInterrupted, StudyStarted, TrialFailed

log = logging.getLogger("paretoscope.studies")

TROUBLE = (StudyFailed, StudyInterrupted, TrialFailed)


def say(study: str, events: Sequence[Event], job: str | None = None) -> None:
    """Of events that are in the log now; `job` is the driver that sent them, if one did."""
    for event in events:
        if isinstance(event, (StudyEvent, TrialFailed)):
            level = logging.WARNING if isinstance(event, TROUBLE) else logging.INFO
            why = getattr(event, "reason", None)
            sender = event.job if isinstance(event, StudyStarted) else job
            about = {"study": study, "trial": getattr(event, "trial", None), "job": sender}
            log.log(level, "%s%s", event.kind.replace("_", " "), f": {why}" if why else "", extra=about)
