"""What code of your own needs of the other parts of a study."""

from __future__ import annotations

from collections.abc import Iterator

from service.contract.methods.data import OwnData
from service.contract.methods.models import OwnModel
from service.contract.methods.own_problems import OwnProblem
from service.contract.methods.weightings import Fixed, Uniform
from service.contract.study.study import Arm, Study, Training
from service.contract.wire.errors import Detail

READ_BY_OURS = (
    *("optimizer", "learning_rate", "l1", "l2", "clip"),
    *("beta1", "beta2", "momentum", "nesterov", "weight_decay"),
)


def broken(study: Study) -> Iterator[Detail]:
    """Code brings its data and its model; without it there are none."""
    for place, part, own in (("data", study.data, OwnData), ("model", study.model, OwnModel)):
        if study.code is not None and not isinstance(part, own):
            rule = f"the study's code gives its own {place}: leave {place} out, got {part.name!r}"
            yield Detail(path=f"{place}.name", message=rule)
        elif study.code is None and isinstance(part, own):
            rule = f"'own' is the {place} of a study's code: give code, or another {place}"
            yield Detail(path=f"{place}.name", message=rule)
    if study.code is None and study.requirements:
        rule = "packages are installed for code of your own: give code, or leave requirements out"
        yield Detail(path="requirements", message=f"{rule}, got {study.requirements[0]!r}")
    for i, arm in enumerate(study.arms):
        if study.code is not None and not isinstance(arm.problem, OwnProblem):
            known = ", ".join(each.name for each in study.code.problems)
            yield Detail(path=f"arms[{i}].problem", message=f"give a problem of the study's code, which has {known}")
        if isinstance(arm.problem, OwnProblem) and (why := _weighting(arm, arm.problem)):
            yield Detail(path=f"arms[{i}].weighting.name", message=f"{why}, got {arm.weighting.name!r}")
        yield from _optimizer(study, i, arm)
        script = isinstance(arm.problem, OwnProblem) and arm.problem.is_script
        if arm.run == "elsewhere" and not script:
            rule = "elsewhere needs a script of the study's own code, which says what is reported"
            why = f"{arm.problem.name!r} is trained by Paretoscope's own loop: leave run out, or give a script"
            yield Detail(path=f"arms[{i}].run", message=f"{rule}; problem {why}")


def _optimizer(study: Study, i: int, arm: Arm) -> Iterator[Detail]:
    """An optimiser of the code's own has its own rates: a value that nobody reads would be searched in vain."""
    training = study.training_of(arm)
    if training is None or not (isinstance(arm.problem, OwnProblem) and "optimizer" in arm.problem.described.hooks):
        return
    for name in READ_BY_OURS:
        if (value := getattr(training, name)) != Training.model_fields[name].default:
            path = f"arms[{i}].training.{name}" if name in arm.training else f"training.{name}"
            why = f"problem {arm.problem.name} makes its own optimizer, which does not read it"
            said = value if isinstance(value, (str, float, int)) else value.model_dump(by_alias=True)
            yield Detail(path=path, message=f"{why}: make it a parameter of the problem, got {said!r}")


def _weighting(arm: Arm, problem: OwnProblem) -> str | None:
    """Why the arm's weighting has nothing to weigh, if so."""
    if problem.is_script:
        known = isinstance(arm.weighting, Uniform)
        return None if known else f"script {problem.name} trains by itself, its losses are not weighed: leave it out"
    if len(problem.terms) == 1 and not isinstance(arm.weighting, Uniform | Fixed):
        return f"problem {problem.name} has one term ({problem.terms[0]}), which needs no weighting: use uniform"
    return None
