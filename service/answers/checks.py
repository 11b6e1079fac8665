"""What a check of a study answers: its trials, what it reports and what it will cost, or what is wrong with it."""

from __future__ import annotations

from service.analysis.fronts import axis_for
from service.answers.estimates import Estimates
from service.answers.studies import metric_rows
from service.contract.study.draft import as_written
from service.contract.study.expansion import count_trials
from service.contract.study.parsing import parse_study, read_body, with_lines
from service.contract.study.study import Study
from service.contract.study.warnings import warnings
from service.contract.wire.answers.answer import WrittenSpec
from service.contract.wire.answers.checks import CheckAnswer, PlannedArm, RefusedStudy, ValidStudy
from service.contract.wire.answers.comparison import ObjectiveAxis
from service.contract.wire.errors import InvalidInput
from service.contract.wording.palette import arm_style


def check_answer(text: str, kind: str, estimates: Estimates) -> CheckAnswer:
    """`spec` is what was written, also when it breaks a rule; null only when it cannot be read."""
    try:
        study = parse_study(text, kind)
    except InvalidInput as error:
        return RefusedStudy(valid=False, error=error.public(), spec=_written(text, kind))
    cautions = warnings(study)
    return ValidStudy(
        valid=True,
        trials=sum(count_trials(study).values()),
        arms=_arms(study),
        metrics=metric_rows(study.metrics),
        objectives=[
            ObjectiveAxis(**objective.model_dump(), chosen_by=axis_for(study, objective.metric).chosen_by)
            for objective in study.objectives
        ],
        spec=_written(text, kind),
        cost=estimates.cost(study),
        warnings=with_lines(cautions, text) if kind == "yaml" else cautions,
    )


def _arms(study: Study) -> list[PlannedArm]:
    counts = count_trials(study)
    styles = [arm_style(i) for i in range(len(study.arms))]
    return [
        PlannedArm(name=arm.name, trials=counts[arm.name], colour=colour, symbol=symbol)
        for arm, (colour, symbol) in zip(study.arms, styles, strict=True)
    ]


def _written(text: str, kind: str) -> WrittenSpec | None:
    try:
        return as_written(read_body(text, kind))
    except InvalidInput:  # the error says where it cannot be read
        return None
