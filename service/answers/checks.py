"""What a check of a study answers: its trials, what it reports and what it will cost, or what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable

from service.analysis.fronts import axis_for
from service.answers.estimates import Estimates
from service.answers.studies import metric_rows
from service.contract.study.draft import as_written
from service.contract.study.expansion import count_trials, count_verifying
from service.contract.study.parsing import Written, parse, read, with_lines
from service.contract.study.study import Study
from service.contract.study.warnings import warnings
from service.contract.wire.answers.checks import CheckAnswer, PlannedArm, RefusedStudy, ValidStudy
from service.contract.wire.answers.comparison import ObjectiveAxis
from service.contract.wire.errors import Conflict, Forbidden, InvalidInput
from service.contract.wording.palette import arm_style


def check_answer(
    text: str,
    kind: str,
    estimates: Estimates,
    allow: Callable[[Study], None],
    known: Callable[[Written], Written] = lambda source: source,
) -> CheckAnswer:
    """`spec` is what was written, also when it breaks a rule; null only when it cannot be read.

    `allow` raises for what this service, by its settings, does not take; `known` gives a study what is known of the
    code that it names.
    """
    try:
        source = read(text, kind)
    except InvalidInput as error:
        return RefusedStudy(valid=False, error=error.public(), spec=None)
    spec = as_written(source.body)
    try:
        study = parse(known(source))
        allow(study)
    except (InvalidInput, Conflict, Forbidden) as error:
        return RefusedStudy(valid=False, error=error.public(), spec=spec)
    cautions, arms = warnings(study), _arms(study)
    return ValidStudy(
        valid=True,
        trials=sum(arm.trials for arm in arms),
        arms=arms,
        metrics=metric_rows(study.metrics),
        objectives=[
            ObjectiveAxis(**objective.model_dump(), chosen_by=axis_for(study, objective.metric).chosen_by)
            for objective in study.objectives
        ],
        spec=spec,
        cost=estimates.cost(study),
        warnings=with_lines(cautions, source.root) if source.root else cautions,
    )


def _arms(study: Study) -> list[PlannedArm]:
    counts, checks = count_trials(study), count_verifying(study)
    styles = [arm_style(i) for i in range(len(study.arms))]
    return [
        PlannedArm(name=arm.name, trials=counts[arm.name] + checks.get(arm.name, 0), colour=colour, symbol=symbol)
        for arm, (colour, symbol) in zip(study.arms, styles, strict=True)
    ]
