"""What the closed form of a weighting for all β needs of the other parts of a study."""

from __future__ import annotations

from collections.abc import Iterator

from service.contract.methods.data import Gaussian
from service.contract.methods.problems import Bottleneck
from service.contract.methods.searches import Suggesting
from service.contract.methods.weightings import Betas, Fvib
from service.contract.parameters.axes import listed
from service.contract.study.conditional_rules import unverifiable
from service.contract.study.study import Arm, Study
from service.contract.wire.errors import Detail
from service.contract.wording.numbers import setting

CHANCE = 0.5  # of two classes: of more it is less, and how many there are is known only where the data is


def broken(study: Study) -> Iterator[Detail]:
    """It is derived for classes, a Gaussian code with the rate of vib, and a linear decoder that it gives itself."""
    for i, arm in enumerate(study.arms):
        if not isinstance(arm.weighting, Fvib):
            continue
        path = f"arms[{i}].weighting"
        if needs := _needs(study, arm):
            yield Detail(path=f"{path}.name", message="fvib needs {}, got {}".format(*needs))
        if (sure := arm.weighting.confidence) is not None and sure <= CHANCE:
            rule = "a decoder that is less sure than chance turns its classes around: confidence must be above 0.5"
            yield Detail(path=f"{path}.confidence", message=f"{rule}, that of two classes, got {sure}")
        if outside := _outside(arm.weighting.beta):
            yield Detail(path=f"{path}.beta.{outside[0]}", message=outside[1])
        if isinstance(arm.search, Suggesting):
            rule = "a search is told one point per trial, fvib has many: leave the search out"
            yield Detail(path=f"arms[{i}].search", message=f"{rule}, got {arm.search.name}")
        if why := unverifiable(arm.weighting, arm.problem):
            yield Detail(path=f"{path}.verify", message=why)


def _needs(study: Study, arm: Arm) -> tuple[str, str] | None:
    """What it must have, and what it has instead: the first that is missing."""
    problem, model, training = arm.problem, study.model_of(arm), study.training_of(arm)
    if not isinstance(problem, Bottleneck):
        return "problem bottleneck", f"problem {problem.name!r}"
    if model is None or training is None:
        return None
    rates, transforms = listed(problem.rate), listed(problem.transform)
    shrinks = any(listed(getattr(training, name)) != [0.0] for name in ("l1", "l2"))
    decays = "adamw" in listed(training.optimizer) and listed(training.weight_decay) != [0.0]
    missing = (
        (
            rates != ["vib"] or transforms != ["identity"],
            ("rate vib without a transform", f"rate {setting(rates)} and transform {setting(transforms)}"),
        ),
        (isinstance(study.data, Gaussian), ("labels that are classes", "data 'gaussian', whose label is continuous")),
        (bool(model.head), ("model.head [], as it gives the decoder itself", f"model.head {setting(model.head)}")),
        (training.feedback == "dfa", ("training.feedback backprop", "'dfa'")),
        (training.balance is not None, ("training without balance, as its decoder is given", "balance")),
        (shrinks, ("training.l1 and training.l2 of 0, as its decoder is given", "another one")),
        (decays, ("training.weight_decay of 0 with adamw, as its decoder is given", "another one")),
    )
    return next((needs for is_missing, needs in missing if is_missing), None)


def _outside(beta: Betas) -> tuple[str, str] | None:
    """The end of the range that lies where there is no code to speak of."""
    if beta.from_ <= 0:
        return "from", f"fvib has a code without noise at β = 0: from must be above 0, got {beta.from_}"
    if beta.to > 1:
        return "to", f"the code of fvib carries nothing from β = 1 on: to must be at most 1, got {beta.to}"
    return None
