"""`python -m workers.check_study STUDY.json FOLDER ENTRY`: tries a study with code of its own on this machine, without
Ray or a service.

Every arm gets its data, its models and one batch, stacked and alone; what would happen is printed as JSON, a line an
arm. Exit codes: 0 all arms would train, 2 something is wrong, which is said.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import islice
from pathlib import Path

import torch

from service.contract.methods.own_description import Code
from service.contract.study.axes import Choice
from service.contract.study.expansion import PlannedTrial, Slot, count_trials, expand, resolve, searched
from service.contract.study.parsing import check_study
from service.contract.study.study import Arm, Study
from service.contract.wire.errors import ParetoscopeError
from workers.own_code.describing import describe
from workers.own_code.loaded import LoadedCode
from workers.planning.cohorts import plan, runs_alone

MEMBERS = 4  # of an arm, at most, that are tried together
NO_HASH = "0" * 64  # nothing is stored


def tried(body: dict[str, object], folder: Path, entry: str) -> list[dict[str, object]]:
    """What each arm would do. A ParetoscopeError where something is wrong."""
    code = Code(hash=NO_HASH, entry=entry, problems=describe(folder, entry))
    study = check_study({**body, "code": code.model_dump()})
    loaded = LoadedCode(folder, entry)
    counts = count_trials(study)
    return [{"arm": arm.name, "trials": counts[arm.name], **_tried(study, arm, loaded)} for arm in study.arms]


def _tried(study: Study, arm: Arm, code: LoadedCode) -> dict[str, object]:
    members = list(islice(_trials(study, arm), MEMBERS))
    if runs_alone(members[0]):
        return {"words": "a script: it runs by itself, and was not run"}
    together = plan(members, slots=1)[0]
    begun = time.perf_counter()
    cohort = code.cohort(together, study.data, torch.device("cpu"), study.evaluation.gradients)
    measured = cohort.evaluate(study.evaluation, 1, last=True)
    took = time.perf_counter() - begun
    values = {name: column[0] for name, column in measured.items() if name in together[0].problem.metrics}
    return {"words": str(cohort), "stacks": cohort.ratio is not None, "took": took, "first_metrics": values}


def _trials(study: Study, arm: Arm) -> list[PlannedTrial]:
    """Of a search with the first value of each of its ranges."""
    trials = []
    for trial in expand(study):
        if trial.arm == arm.name:
            trials.append(trial if isinstance(trial, PlannedTrial) else resolve(trial, _first(trial)))
    return trials


def _first(slot: Slot) -> dict[str, object]:
    values: dict[str, object] = {}
    while axes := {key: axis for key, axis in searched(slot, values).items() if key not in values}:
        values |= {key: axis.choice[0] if isinstance(axis, Choice) else axis.ends()[0] for key, axis in axes.items()}
    return values


def main(arguments: list[str]) -> int:
    body, folder, entry = json.loads(Path(arguments[0]).read_text()), Path(arguments[1]), arguments[2]
    torch.set_num_threads(1)
    try:
        for line in tried(body, folder, entry):
            print(json.dumps(line))  # noqa: T201 - read by the command line
    except ParetoscopeError as error:
        print(json.dumps({"error": error.message}))  # noqa: T201
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
