"""`python -m workers.describe_code <hash>`: reads a user's code in a process of its own, started as a Ray job, and
tells the service what is in it, or why it cannot be used.

Environment: as for workers.run_study. Exit codes: 0 the service knows, 3 the service was lost.
"""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

from service.contract.methods.own_description import Described
from service.contract.wire.errors import ParetoscopeError
from service.contract.wire.events import sendable
from service.contract.wire.log_lines import LOG_FORMAT, log_to_stderr
from service.contract.wire.reading import CodeReading, CodeRefusal
from workers.own_code.describing import describe
from workers.own_code.errors import CodeError
from workers.own_code.loaded import LoadedCode
from workers.own_code.packages import provide
from workers.own_code.room import limit_memory
from workers.own_code.trying import tried
from workers.own_code.unpacking import unpacked
from workers.sending.credentials import own_token
from workers.sending.study_client import CodeClient
from workers.time_limit import TookTooLong, within

log = logging.getLogger("workers.describe_code")

DONE, LOST = 0, 3
IMPORT_SECONDS = 60  # that importing the code may take
TRY_SECONDS = 60  # that a problem may take for its data, its model and a batch, to be tried


def read(folder: Path, entry: str) -> CodeReading:
    """What is in the code; its own faults are what is said of it."""
    try:
        provide(folder)
        with within(IMPORT_SECONDS):
            problems = describe(folder, entry)
        code = LoadedCode(folder, entry)
        return CodeReading(problems=[_tried(code, each) for each in problems])
    except CodeError as error:
        refusal = CodeRefusal(message=sendable(error.words), file=error.file or None, line=error.line or None)
        return CodeReading(refusal=refusal)
    except TookTooLong:
        words = f"importing it took longer than {IMPORT_SECONDS} s: a module only defines, it does not train"
        return CodeReading(refusal=CodeRefusal(message=words, file=entry))


def _tried(code: LoadedCode, described: Described) -> Described:
    """On its first batch; one that takes its time, as for data that come from far, is taken as it is."""
    try:
        with within(TRY_SECONDS):
            return tried(code, described)
    except TookTooLong:
        return described.model_copy(update={"stacking": f"not tried: its first batch took longer than {TRY_SECONDS} s"})


def main(arguments: list[str]) -> int:
    url = os.environ.get("PARETOSCOPE_URL")
    log_to_stderr(os.environ.get(LOG_FORMAT, "auto"))
    if len(arguments) != 1 or not url:
        log.error("usage: PARETOSCOPE_URL=http://… python -m workers.describe_code HASH")
        return 2
    try:
        with CodeClient(url, own_token(url, arguments[0]), arguments[0]) as client:
            limit_memory()
            client.describe(read(unpacked(client.content()), client.entry()))
    except ParetoscopeError as error:
        log.error("%s", error.message)
        return LOST
    return DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
