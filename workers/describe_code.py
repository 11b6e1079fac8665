"""`python -m workers.describe_code <hash>`: reads a user's code in a process of its own, started as a Ray job, and
tells the service what is in it, or why it cannot be used.

Environment: as for workers.run_study. Exit codes: 0 the service knows, 3 the service was lost.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from service.contract.methods.own_description import Described
from service.contract.wire.errors import ParetoscopeError
from service.contract.wire.events import sendable
from service.contract.wire.log_lines import LOG_FORMAT, log_to_stderr
from service.contract.wire.reading import CodeReading, CodeRefusal
from workers.own_code.describing import describe
from workers.own_code.errors import CodeError, frames_of
from workers.own_code.loaded import LoadedCode
from workers.own_code.packages import provide
from workers.own_code.room import limit_memory
from workers.own_code.time_limit import TookTooLong, start, within
from workers.own_code.trying import tried
from workers.own_code.unpacking import unpacked
from workers.sending.credentials import own_token
from workers.sending.study_client import CodeClient

log = logging.getLogger("workers.describe_code")

DONE, LOST = 0, 3
IMPORT_SECONDS = 60  # that importing the code may take
TRY_SECONDS = 60  # that a problem may take for its data, its model or a batch, to be tried
ALL_SECONDS = 60  # that all of its batches may take together
READING = ("data", "__getitem__", "__len__")  # what of theirs we call for data


def read(folder: Path, entry: str, last_word: Callable[[CodeReading], None] | None = None) -> CodeReading:
    """What is in the code; its own faults are what is said of it.

    `last_word` is told of an import that catches whatever interrupts it, and is to end the process.
    """

    def hopeless(error: TookTooLong) -> None:
        if last_word:
            last_word(_endless(error, folder, entry))

    try:
        provide(folder)
        trying = Trying()
        with within(IMPORT_SECONDS, hopeless):
            problems = describe(folder, entry)
            code = LoadedCode(folder, entry, trying.alive)
        return CodeReading(problems=[trying(code, each) for each in problems])
    except CodeError as error:
        refusal = CodeRefusal(message=sendable(error.words), file=error.file or None, line=error.line or None)
        return CodeReading(refusal=refusal)
    except TookTooLong as error:
        return _endless(error, folder, entry)


def _endless(error: TookTooLong, folder: Path, entry: str) -> CodeReading:
    words = f"importing it took longer than {IMPORT_SECONDS} s: a module only defines, it does not train"
    frames = frames_of(error, folder)
    place = {"file": frames[-1].file, "line": frames[-1].line} if frames else {"file": entry}
    return CodeReading(refusal=CodeRefusal(message=words, **place))


class Enough(TookTooLong):
    """Every batch has ended in time, but there are many."""


class Trying:
    """Tries problems on their first batch. Each call of their functions has its time, and so have all together.

    What does not end is refused with its line; data may come from far, so a problem that waits for them is taken as it
    is, and so is one that is only slow.
    """

    def __init__(self) -> None:
        self._begun = time.monotonic()

    def alive(self) -> None:
        """A batch begins."""
        if time.monotonic() - self._begun > ALL_SECONDS:
            raise Enough
        start(TRY_SECONDS)

    def __call__(self, code: LoadedCode, described: Described) -> Described:
        self._begun = time.monotonic()
        try:
            with within(TRY_SECONDS):
                return tried(code, described)
        except Enough:
            words = f"not tried: its first batches took longer than {ALL_SECONDS} s"
        except TookTooLong as error:
            frames = frames_of(error, code.folder)
            if frames and frames[0].function not in READING:
                rule = f"{described.name} had not ended its first batch after {TRY_SECONDS} s (in {frames[0].function})"
                raise CodeError(rule, frames[-1].file, frames[-1].line) from None
            words = f"not tried: {'its data were not there' if frames else 'nothing had come'} after {TRY_SECONDS} s"
        return described.model_copy(update={"stacking": words})


def main(arguments: list[str]) -> int:
    url = os.environ.get("PARETOSCOPE_URL")
    log_to_stderr(os.environ.get(LOG_FORMAT, "auto"))
    if len(arguments) != 1 or not url:
        log.error("usage: PARETOSCOPE_URL=http://… python -m workers.describe_code HASH")
        return 2
    try:
        with CodeClient(url, own_token(url, arguments[0]), arguments[0]) as client:
            limit_memory(os.cpu_count() or 1)

            def last_word(reading: CodeReading) -> None:
                """The code goes on whatever is raised in it, so the process ends here."""
                try:
                    client.describe(reading)
                    os._exit(DONE)
                finally:
                    os._exit(LOST)

            client.describe(read(unpacked(client.content()), client.entry(), last_word))
    except ParetoscopeError as error:
        log.error("%s", error.message)
        return LOST
    return DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
