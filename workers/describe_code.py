"""`python -m workers.describe_code <hash>`: reads a user's code in a process of its own, started as a Ray job, and
tells the service what is in it, or why it cannot be used.

Environment: as for workers.run_study. Exit codes: 0 the service knows, 3 the service was lost.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from types import FrameType

from service.contract.wire.errors import ParetoscopeError
from service.contract.wire.events import sendable
from service.contract.wire.log_lines import LOG_FORMAT, log_to_stderr
from service.contract.wire.reading import CodeReading, CodeRefusal
from workers.own_code.describing import describe
from workers.own_code.errors import CodeError
from workers.own_code.unpacking import unpacked
from workers.sending.credentials import own_token
from workers.sending.study_client import CodeClient

log = logging.getLogger("workers.describe_code")

DONE, LOST = 0, 3
SECONDS = 120  # that importing the code may take


class TookTooLong(BaseException):
    """Not an Exception: the code that is imported must not catch it."""


def read(client: CodeClient) -> CodeReading:
    """What is in the code; its own faults are what is said of it."""
    folder, entry = unpacked(client.content()), client.entry()
    previous = signal.signal(signal.SIGALRM, _interrupt)
    signal.alarm(SECONDS)
    try:
        return CodeReading(problems=describe(folder, entry))
    except CodeError as error:
        refusal = CodeRefusal(message=sendable(error.words), file=error.file or None, line=error.line or None)
        return CodeReading(refusal=refusal)
    except TookTooLong:
        words = f"importing it took longer than {SECONDS} s: a module only defines, it does not train"
        return CodeReading(refusal=CodeRefusal(message=words, file=entry))
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise TookTooLong


def main(arguments: list[str]) -> int:
    url = os.environ.get("PARETOSCOPE_URL")
    log_to_stderr(os.environ.get(LOG_FORMAT, "auto"))
    if len(arguments) != 1 or not url:
        log.error("usage: PARETOSCOPE_URL=http://… python -m workers.describe_code HASH")
        return 2
    try:
        with CodeClient(url, own_token(url, arguments[0]), arguments[0]) as client:
            client.describe(read(client))
    except ParetoscopeError as error:
        log.error("%s", error.message)
        return LOST
    return DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
