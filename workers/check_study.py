"""`python -m workers.check_study STUDY.json ANSWERS SECONDS [FOLDER ENTRY]`: tries a study on this machine, without Ray
or a service.

Every arm takes one real step, its members together and the first alone; a script runs until its first report. What
would happen is appended to the file ANSWERS, not printed: the code that is tried may print what it likes. Exit codes: 0
all arms would train, 2 something is wrong, which is said.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from service.contract.methods.own_description import Code
from service.contract.study.data_paths import OPENED_BY, folders_of
from service.contract.study.domains import check_domains
from service.contract.study.expansion import count_trials
from service.contract.study.parsing import check_study
from service.contract.study.study import Arm, Study
from service.contract.wire.errors import InvalidInput, ParetoscopeError
from service.contract.wire.tried_arms import ArmBegins, ArmTried, Outcome, StudyRefused, Told, line_of
from workers.data import data_folder
from workers.own_code.describing import describe
from workers.own_code.first_step import trials_of, tried_arm, tried_script
from workers.own_code.loaded import LoadedCode
from workers.own_code.packages import provide
from workers.own_code.time_limit import TookTooLong, within
from workers.planning.cohorts import runs_alone

NO_HASH = "0" * 64  # nothing is stored
GRACE = 15  # seconds after which what cannot be interrupted is ended with the process


def tried(
    body: dict[str, object], seconds: int, tell: Callable[[Told], None], folder: Path | None = None, entry: str = ""
) -> None:
    """Tells of each arm that it is tried, then what it would do. A ParetoscopeError where something is wrong."""
    code = None
    if folder is not None:
        provide(folder)  # which may take its time
        with _limited("importing the code", seconds):
            described = Code(hash=NO_HASH, entry=entry, problems=describe(folder, entry))
            body, code = {**body, "code": described.model_dump()}, LoadedCode(folder, entry)
    study = check_study(body)
    check_domains(study, data_folder(), folders_of(os.environ.get(OPENED_BY, "")))
    counts = count_trials(study)
    for arm in study.arms:
        tell(ArmBegins(arm=arm.name))
        tell(ArmTried(arm=arm.name, trials=counts[arm.name], outcome=_tried(study, arm, code, seconds)))


def _tried(study: Study, arm: Arm, code: LoadedCode | None, seconds: int) -> Outcome:
    trials = trials_of(study, arm)
    if arm.run == "elsewhere":
        return Outcome(words="trained elsewhere, by whoever asks for its trials: not tried")
    if code is not None and runs_alone(trials[0]):
        return tried_script(code, trials[0], seconds)
    with _limited(f"arm {arm.name!r}", seconds):
        return tried_arm(study, trials, code)


@contextmanager
def _limited(what: str, seconds: int) -> Iterator[None]:
    """A limit that also ends what Python cannot interrupt: with the process."""
    faulthandler.dump_traceback_later(seconds + GRACE, exit=True)
    try:
        with within(seconds):
            yield
    except TookTooLong:
        raise InvalidInput(f"{what} took longer than {seconds} s: give it more with --seconds") from None
    finally:
        faulthandler.cancel_dump_traceback_later()


def main(arguments: list[str]) -> int:
    body, answers, seconds = json.loads(Path(arguments[0]).read_text()), Path(arguments[1]), int(arguments[2])
    folder, entry = (Path(arguments[3]), arguments[4]) if arguments[3:] else (None, "")
    torch.set_num_threads(1)

    def tell(told: Told) -> None:
        with answers.open("ab") as file:
            file.write(line_of(told))

    try:
        tried(body, seconds, tell, folder, entry)
    except ParetoscopeError as error:
        tell(StudyRefused(reason=error.message))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
