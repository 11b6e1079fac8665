"""Rules between the parts of a study, each broken one with its path: what no part can see by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from service.contract.methods.attacks import label_of
from service.contract.methods.balance import balanced_layers
from service.contract.methods.data import Data, Gaussian, Images, OwnData
from service.contract.methods.examples import Labelled
from service.contract.methods.own_problems import OwnProblem
from service.contract.methods.problems import MADE_TASKS, Bottleneck, Multitask, can_be_attacked, has_code, tasks_of
from service.contract.methods.searches import Suggesting
from service.contract.methods.task_data import DOMAIN
from service.contract.methods.weightings import Fixed, OfCurves, Single
from service.contract.metrics import Kind, described, metric
from service.contract.metrics.estimators import KSG_DIMENSIONS
from service.contract.parameters.axes import Choice, Grid, Range, listed
from service.contract.study import (
    balance_rules,
    branch_rules,
    conditional_rules,
    fill_rules,
    fvib_rules,
    group_rules,
    own_rules,
    stopping_rules,
    training_rules,
)
from service.contract.study.branched import in_each_branch
from service.contract.study.expansion import idle_searches
from service.contract.study.study import Study
from service.contract.wire.errors import Detail


def broken(study: Study) -> list[Detail]:
    """Every rule that the study breaks, whichever weighting a search would choose."""
    details = [*branch_rules.broken(study), *in_each_branch(study, _broken)]
    told = {detail.path for detail in details}  # why a search has nothing to search is told instead
    return [*details, *(detail for detail in idle_searches(study) if detail.path not in told)]


def _broken(study: Study) -> list[Detail]:
    return [
        *_claimed(study),
        *_tasks(study),
        *_baseline(study),
        *_labels(study),
        *_evaluation(study),
        *_latent_map(study),
        *_weightings(study),
        *_fixed_weights(study),
        *_single_tasks(study),
        *_blending(study),
        *_overfitting(study),
        *group_rules.broken(study),
        *conditional_rules.broken(study),
        *fvib_rules.broken(study),
        *fill_rules.broken(study),
        *own_rules.broken(study),
        *training_rules.broken(study),
        *stopping_rules.broken(study),
        *_feedback(study),
        *balance_rules.broken(study),
    ]


def _claimed(study: Study) -> Iterator[Detail]:
    """An objective is claimed, so not on the split that chooses, and every arm reports it or is left out.

    The same holds for a bound: a trial that does not report its metric could never keep it.
    """
    reported = {arm.name: study.metrics_of(arm) for arm in study.arms}
    claimed = {
        "objectives": [objective.metric for objective in study.objectives],
        "constraints": [constraint.metric for constraint in study.constraints],
    }
    for what, names in claimed.items():
        for i, name in enumerate(names):
            yield from _reported(study, reported, name, f"{what}[{i}].metric")


def _reported(study: Study, reported: Mapping[str, list[str]], name: str, path: str) -> Iterator[Detail]:
    if (claimed := described(name).validation_of) is not None:
        rule = f"the validation split chooses, what is claimed is measured on the test split: name {claimed!r}"
        yield Detail(path=path, message=f"{rule}, got {name!r}")
        return
    lacking = next((arm for arm in study.arms if name not in reported[arm.name]), None)
    if lacking is None:
        curves = next((arm for arm in study.arms if isinstance(arm.weighting, OfCurves)), None)
        if curves is not None and described(name).is_of_epoch:
            rule = f"each point of arm {curves.name!r} ({curves.weighting.name}) has what its network does on the test "
            rule += "split, and this is told of the training alone: name a metric that is measured there"
            yield Detail(path=path, message=f"{rule}, got {name!r}")
        return
    known = ", ".join(row.name for row in map(metric, reported[lacking.name]) if row and row.is_objective)
    rule = f"{name!r} is not reported by arm {lacking.name!r} (problem {lacking.problem.name}); it reports {known}"
    asked = described(name)
    if asked.kind is Kind.ROBUSTNESS:
        rule += "; accuracy under attack needs its attack in evaluation.attacks"
    elif asked.kind is Kind.RATE and asked.subject is not None:
        rule += "; an estimate needs its estimator in evaluation.estimators"
    elif asked.kind in (Kind.COSINE, Kind.LENGTH):
        rule += "; gradients are watched with evaluation.gradients, and by weightings that compare them"
    elif asked.kind is Kind.GAP and asked.subject is not None:
        rule += "; it needs evaluation.overfitting"
    yield Detail(path=path, message=rule)


def _tasks(study: Study) -> Iterator[Detail]:
    """The data must have every task. Which domains a folder of images has, `domains` sees where the folder is."""
    columns, absent = _columns(study.data), _absent(study.data)
    for i, arm in enumerate(study.arms):
        if not isinstance(arm.problem, Multitask):
            continue
        for j, task in enumerate(arm.problem.tasks):
            path = f"arms[{i}].problem.{'main' if j == 0 else f'auxiliaries[{j - 1}]'}"
            if task in (columns or ()) or (columns is None and task.startswith(DOMAIN)):
                continue
            made = [name for name in MADE_TASKS if name not in absent]
            if task not in made:
                known = ", ".join([*made, *([f"{DOMAIN}<folder>"] if columns is None else columns)])
                why = f" ({absent[task]})" if task in absent else ""
                rule = f"data {study.data.name!r} has no task {task!r}{why}; known: {known}"
                yield Detail(path=path, message=rule)
            elif task == "class" and columns and columns[0] in arm.problem.tasks:
                rule = f"'class' is the first column of data {study.data.name!r}: name it once, got {columns[0]!r} too"
                yield Detail(path=path, message=rule)


def _columns(data: Data) -> tuple[str, ...] | None:
    return data.columns if isinstance(data, Labelled) else ()


def _absent(data: Data) -> dict[str, str]:
    """Tasks that cannot be made of this data, and why."""
    reasons = {
        "class": "its labels are continuous" if isinstance(data, Gaussian) else "",
        "coarse-class": "" if isinstance(data, Labelled) and data.coarse else "its classes have no coarser form",
        "rotation": "" if isinstance(data, Images) else "only images can be turned",
    }
    return {task: why for task, why in reasons.items() if why}


def _baseline(study: Study) -> Iterator[Detail]:
    names = [arm.name for arm in study.arms]
    if study.baseline is not None and study.baseline not in names:
        rule = f"{study.baseline!r} is not an arm of this study, whose arms are {', '.join(map(repr, names))}"
        yield Detail(path="baseline", message=rule)


def _labels(study: Study) -> Iterator[Detail]:
    if getattr(study.data, "labels", None) is not None and any(isinstance(a.problem, Bottleneck) for a in study.arms):
        rule = "few labels are for the main task of problem multitask; for a bottleneck use train_fraction"
        yield Detail(path="data.labels", message=rule)


def _evaluation(study: Study) -> Iterator[Detail]:
    for what, can, methods in (
        ("attacks", can_be_attacked, "logits(model, x), or code and decode"),
        ("estimators", has_code, "code(model, x)"),
    ):
        arm = next((arm for arm in study.arms if not can(arm.problem)), None)
        if getattr(study.evaluation, what) and arm is not None:
            rule = f"needs problem bottleneck in every arm, got {arm.problem.name!r} in arm {arm.name!r}"
            if isinstance(arm.problem, OwnProblem) and not arm.problem.is_script:
                rule = f"needs a method {methods}, which problem {arm.problem.name!r} of arm {arm.name!r} does not have"
            yield Detail(path=f"evaluation.{what}", message=rule)
    if isinstance(study.data, OwnData):
        return  # of what shape and range its inputs are is seen when they are read
    if study.evaluation.attacks and not isinstance(study.data, Images):
        rule = f"attacks change pixels in [0, 1]: they need images, got data {study.data.name!r}"
        yield Detail(path="evaluation.attacks", message=rule)
    if "ksg" in study.evaluation.estimators:
        yield from _neighbours(study, f"evaluation.estimators[{study.evaluation.estimators.index('ksg')}]")


def _neighbours(study: Study, path: str) -> Iterator[Detail]:
    """KSG falls far below the truth where inputs or codes have many dimensions, so it is not asked there."""
    of = f"ksg needs at most {KSG_DIMENSIONS} dimensions of the"
    if not isinstance(study.data, Gaussian):
        yield Detail(path=path, message=f"{of} input, which only data 'gaussian' has, got data {study.data.name!r}")
    elif (inputs := len(study.data.correlations)) > KSG_DIMENSIONS:
        yield Detail(path=path, message=f"{of} input, got {inputs}: data.correlations has one per dimension")
    for arm in study.arms:
        model = study.model_of(arm)
        latent = model.latent if model else 0
        widest = max(latent.ends() if isinstance(latent, Range) else listed(latent))
        if widest > KSG_DIMENSIONS:
            yield Detail(path=path, message=f"{of} code, got model.latent {widest} in arm {arm.name!r}")


def _latent_map(study: Study) -> Iterator[Detail]:
    asked, attacks = study.evaluation.latent_map, study.evaluation.attacks
    if asked and not any(has_code(arm.problem) for arm in study.arms):
        rule = f"needs an arm with problem bottleneck, whose code it shows, got {study.arms[0].problem.name!r}"
        if study.code is not None:
            rule = f"needs a method code(model, x), which problem {study.arms[0].problem.name!r} does not have"
        yield Detail(path="evaluation.latent_map", message=rule)
    if asked and asked.attack is not None and asked.attack_of(attacks) is None:
        rule = f"{asked.attack!r} is not in evaluation.attacks; known: {', '.join(map(label_of, attacks)) or 'none'}"
        yield Detail(path="evaluation.latent_map.attack", message=rule)
    for i, seed in enumerate(study.mapped_seeds):
        if seed not in study.seeds:
            rule = f"{seed} is not a seed of this study, which has {', '.join(map(str, study.seeds))}"
            yield Detail(path=f"evaluation.latent_map.seeds[{i}]", message=rule)


def _weightings(study: Study) -> Iterator[Detail]:
    """Without a rate there is nothing to weigh against: an automatic weighting would never train the encoder."""
    for i, arm in enumerate(study.arms):
        if not isinstance(arm.problem, Bottleneck):
            two_of_their_own = isinstance(arm.problem, OwnProblem) and len(arm.problem.terms) == 2
            if arm.weighting.name == "target-rate" and not two_of_their_own:
                rule = "target-rate holds the information term of a bottleneck, or the second of two terms of own code"
                rule += f", got problem {arm.problem.name!r}"
                yield Detail(path=f"arms[{i}].weighting.name", message=rule)
        elif "none" in listed(arm.problem.rate) and arm.weighting.name not in ("fixed", "uniform"):
            rule = "rate none has no information term to weigh: use weighting fixed or uniform"
            yield Detail(path=f"arms[{i}].problem.rate", message=f"{rule}, got {arm.weighting.name!r}")


def _fixed_weights(study: Study) -> Iterator[Detail]:
    """Weights must belong to the terms that the arm's problem has."""
    for i, arm in enumerate(study.arms):
        fixed, terms = arm.weighting, arm.problem.terms
        if not isinstance(fixed, Fixed):
            continue
        path, known = f"arms[{i}].weighting", ", ".join(terms)
        for term in fixed.weights:
            if term not in terms:
                rule = f"{term!r} is not a term of problem {arm.problem.name}; its terms are {known}"
                yield Detail(path=f"{path}.weights.{term}", message=rule)
        if fixed.beta is not None and len(terms) != 2:
            rule = f"beta weighs the second of two terms, this problem has {known}: use weights, or weighting uniform"
            yield Detail(path=f"{path}.beta", message=rule)
        if fixed.simplex and fixed.weights:
            rule = f"simplex gives a weight to every term: leave weights out, got weights of {', '.join(fixed.weights)}"
            yield Detail(path=f"{path}.simplex", message=rule)
        if fixed.simplex and isinstance(arm.search, Suggesting):
            rule = f"simplex is a grid, search {arm.search.name} takes none: use weights with ranges"
            yield Detail(path=f"{path}.simplex", message=f"{rule}, got simplex {fixed.simplex}")


def _single_tasks(study: Study) -> Iterator[Detail]:
    """A task alone needs tasks, and must be one of them."""
    for i, arm in enumerate(study.arms):
        single, terms = arm.weighting, tasks_of(arm.problem)
        if not isinstance(single, Single):
            continue
        path = f"arms[{i}].weighting"
        if not isinstance(arm.problem, Multitask | OwnProblem):
            rule = f"single trains one task of problem multitask alone, got problem {arm.problem.name!r}"
            yield Detail(path=f"{path}.name", message=rule)
        elif single.task is None and isinstance(arm.search, Suggesting):
            rule = f"single without a task is a grid over all of them, search {arm.search.name} takes none"
            yield Detail(path=f"{path}.task", message=f"{rule}: name the task, got none")
        else:
            for where, task in _named(single.task):
                if isinstance(task, str) and task not in terms:
                    rule = f"{task!r} is not a task of this arm's problem; its tasks are {', '.join(terms)}"
                    yield Detail(path=f"{path}.task{where}", message=rule)


def _named(axis: object) -> list[tuple[str, object]]:
    """The values of an axis, each with its place in it; none where nothing is said."""
    if isinstance(axis, Grid | Choice):
        kind = next(iter(type(axis).model_fields))
        return [(f".{kind}[{j}]", value) for j, value in enumerate(listed(axis))]
    return [] if axis is None else [("", axis)]


def _blending(study: Study) -> Iterator[Detail]:
    for i, arm in enumerate(study.arms):
        if arm.weighting.name != "blending":
            continue
        rule = None
        if arm.problem.name == "toy":
            rule = "blending needs losses on a validation split, which problem toy does not have"
        elif not (share := getattr(study.data, "validation_fraction", 0)):
            rule = f"blending needs data.validation_fraction > 0, got {share!r} for data {study.data.name!r}"
        if rule:
            yield Detail(path=f"arms[{i}].weighting.name", message=rule)


def _overfitting(study: Study) -> Iterator[Detail]:
    if not study.evaluation.overfitting:
        return
    rule = None
    if study.code is not None:
        rule = "is measured for problems of the catalogue: report validation and training losses as metrics of your own"
    elif any(arm.problem.name == "toy" for arm in study.arms):
        rule = "needs losses on a validation split, which problem toy does not have"
    elif not (share := getattr(study.data, "validation_fraction", 0)):
        rule = f"needs data.validation_fraction > 0, got {share!r} for data {study.data.name!r}"
    if rule:
        yield Detail(path="evaluation.overfitting", message=f"overfitting {rule}")


def _feedback(study: Study) -> Iterator[Detail]:
    for i, arm in enumerate(study.arms):
        if arm.training.get("feedback", study.training.feedback) != "dfa":
            continue
        if isinstance(arm.problem, Multitask) and arm.problem.rate != "none":
            rule = "dfa takes the code of several tasks for hidden units, which samples are not: leave the rate out"
            yield Detail(path=f"arms[{i}].problem.rate", message=f"{rule}, got {arm.problem.rate!r}")
        path = f"arms[{i}].training" if "feedback" in arm.training else "training"
        if arm.problem.name == "toy" or study.model.name != "mlp":
            got = f"problem {arm.problem.name!r}" if arm.problem.name == "toy" else f"model {study.model.name!r}"
            yield Detail(path=f"{path}.feedback", message=f"dfa trains the hidden layers of model mlp, got {got}")
        elif (model := study.model_of(arm)) and not balanced_layers(model, arm.problem):
            rule = "dfa needs hidden units to feed the error to: give model.widths or model.head"
            got = f"none in model {model.name!r} of problem {arm.problem.name!r}"
            yield Detail(path=f"{path}.feedback", message=f"{rule}, got {got}")
        elif arm.weighting.needs_gram:
            rule = "dfa has no gradients to compare: use a weighting without a Gram matrix"
            yield Detail(path=f"arms[{i}].weighting.name", message=f"{rule}, got {arm.weighting.name!r}")
        elif study.evaluation.gradients:
            rule = f"training.feedback dfa has no gradients to watch, got it in arm {arm.name!r}"
            yield Detail(path="evaluation.gradients", message=rule)
