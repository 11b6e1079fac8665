"""Tries a user's problem on its first batch, before anything is trained: does it work, and do its members stack?"""

from __future__ import annotations

import torch

from service.contract.methods.data import OwnData
from service.contract.methods.models import OwnModel
from service.contract.methods.own_description import Described
from service.contract.methods.own_problems import OwnProblem, of_trial
from service.contract.methods.weightings import Uniform
from service.contract.study.expansion import PlannedTrial
from service.contract.study.study import Evaluation, Training
from workers.own_code.loaded import LoadedCode

MEMBERS = 4


def tried(code: LoadedCode, described: Described, members: int = MEMBERS) -> Described:
    """The description of a problem with whether it stacks and what that gains, by its defaults.

    CodeError where a method fails. A script, and a problem with a parameter that has no default, is left as it is.
    """
    if described.kind == "script" or any(parameter.required for parameter in described.parameters):
        return described
    spec = of_trial(described).model_validate({"name": described.name})
    trials = [_trial(spec, seed) for seed in range(members)]
    cohort = code.cohort(trials, OwnData(draw="shared"), torch.device("cpu"))
    cohort.evaluate(Evaluation(), 1, last=False)
    return described.model_copy(update={"stacks": cohort.stacks, "stacking": cohort.stacking})


def _trial(spec: OwnProblem, seed: int) -> PlannedTrial:
    return PlannedTrial(f"t{seed}", "", seed, {}, spec, Uniform(), OwnModel(), Training())
