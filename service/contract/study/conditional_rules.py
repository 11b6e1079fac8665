"""What a weighting for all trade-offs at once needs of the other parts of a study."""

from __future__ import annotations

from collections.abc import Iterator

from service.contract.methods.models import Model
from service.contract.methods.problems import Bottleneck, Multitask, Problem
from service.contract.methods.searches import Suggesting
from service.contract.methods.weightings import Conditional, OfCurves
from service.contract.parameters.axes import Keyed, listed
from service.contract.study import simplex
from service.contract.study.study import Study, Training
from service.contract.wire.errors import Detail


def broken(study: Study) -> Iterator[Detail]:
    """A network for all β needs a model that can be told β, and a loss that can be weighted as it is drawn."""
    for i, arm in enumerate(study.arms):
        weighting, problem, model = arm.weighting, arm.problem, study.model_of(arm)
        training = study.training_of(arm)
        if not isinstance(weighting, Conditional) or model is None or training is None:
            continue
        path, needs = f"arms[{i}].weighting", _needs(problem, model, training)
        if needs:
            yield Detail(path=f"{path}.name", message="conditional needs {}, got {}".format(*needs))
        if isinstance(arm.search, Suggesting):
            rule = "a search is told one point per trial, conditional has many: leave the search out"
            yield Detail(path=f"arms[{i}].search", message=f"{rule}, got {arm.search.name}")
        together = weighting.scalarization == "stch" or (
            isinstance(problem, Bottleneck)
            and ("nib" in listed(problem.rate) or listed(problem.transform) != ["identity"])
        )
        if weighting.draws not in (None, 1) and together:
            rule = "rate nib, transforms and stch take the examples of a batch together: draws must be 1"
            yield Detail(path=f"{path}.draws", message=f"{rule}, got {weighting.draws}")
        if why := unverifiable(weighting, problem):
            yield Detail(path=f"{path}.verify", message=why)
        yield from _unused(weighting, problem, path)
        if weighting.scalarization == "stch" and isinstance(problem, Bottleneck):
            rule = "stch is for the tasks of problem multitask, got problem 'bottleneck'"
            yield Detail(path=f"{path}.scalarization", message=rule)


def _unused(weighting: Conditional, problem: Problem, path: str) -> Iterator[Detail]:
    """Settings that would change nothing; their defaults are what they are where nobody wrote them."""
    fields = Conditional.model_fields
    of_beta = isinstance(problem, Bottleneck)
    cases = (
        ("concentration", of_beta, "is of preferences among tasks, and a bottleneck has a β"),
        ("mu", weighting.scalarization != "stch", "is the temperature of scalarization stch"),
        ("beta", not of_beta, "is of a bottleneck, and tasks have preferences"),
    )
    for name, is_unused, why in cases:
        value, default = getattr(weighting, name), fields[name].default
        if is_unused and value != default:
            got = value.model_dump(by_alias=True) if isinstance(value, Keyed) else value
            yield Detail(path=f"{path}.{name}", message=f"{name} {why}: leave it out, got {got}")


def _needs(problem: Problem, model: Model, training: Training) -> tuple[str, str] | None:
    """What it must have, and what it has instead: the first that is missing."""
    tasks_with_teacher = isinstance(problem, Multitask) and "exemplar" in problem.terms
    missing = (
        (problem.name == "toy", ("a network whose layers can be scaled by β", "problem 'toy', which has none")),
        (
            len(problem.terms) < 2,
            ("two terms or more, among which there is a trade-off", f"one ({', '.join(problem.terms)})"),
        ),
        (
            not model.modulates,
            ("model mlp or cnn, whose layers can be scaled and shifted", f"model {model.name!r}"),
        ),
        (training.feedback == "dfa", ("training.feedback backprop", "'dfa'")),
        (
            training.balance is not None,
            ("training without balance: what scales its units by β is not balanced with them", "balance"),
        ),
        (tasks_with_teacher, ("tasks without a teacher", "'exemplar'")),
    )
    return next((needs for is_missing, needs in missing if is_missing), None)


def unverifiable(weighting: OfCurves, problem: Problem) -> str | None:
    """Why networks that are trained separately could not check its curve, if so."""
    names, places = "βs", weighting.points
    if not isinstance(problem, Bottleneck):
        if weighting.verify and isinstance(weighting, Conditional) and weighting.scalarization == "stch":
            return "verify trains weighted sums of the tasks separately, got scalarization stch"
        terms = max(2, len(problem.terms))
        names, places = "preferences", simplex.count(terms, simplex.finest(terms, weighting.points))
    if weighting.verify <= places:
        return None
    return f"verify takes its {names} from the {places} of the curve (points), got {weighting.verify}"
