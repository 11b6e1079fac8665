"""What a check of a study answers: its trials, what it reports and what it will cost, or what is wrong with it."""

from __future__ import annotations

from typing import Any

from service.contract.errors import InvalidInput
from service.contract.expansion import count_trials
from service.contract.metrics import described
from service.contract.palette import arm_style
from service.contract.parsing import parse_study, read_body
from service.contract.study import Study
from service.estimates import Estimates
from service.written import as_written


def check_answer(text: str, kind: str, estimates: Estimates) -> dict[str, Any]:
    """`spec` is what was written, also when it breaks a rule; null only when it cannot be read."""
    try:
        study = parse_study(text, kind)
    except InvalidInput as error:
        return {"valid": False, "error": error.public(), "spec": _written(text, kind)}
    return {
        "valid": True,
        "trials": sum(count_trials(study).values()),
        "arms": _arms(study),
        "metrics": [{"name": name, **described(name)._asdict()} for name in study.metrics],
        "objectives": [objective.model_dump() for objective in study.objectives],
        "spec": _written(text, kind),
        "cost": estimates.cost(study).public(),
    }


def _arms(study: Study) -> list[dict[str, Any]]:
    counts = count_trials(study)
    looks = [arm_style(i) for i in range(len(study.arms))]
    return [
        {"name": arm.name, "trials": counts[arm.name], "colour": colour, "symbol": symbol}
        for arm, (colour, symbol) in zip(study.arms, looks, strict=True)
    ]


def _written(text: str, kind: str) -> dict[str, Any] | None:
    try:
        return as_written(read_body(text, kind))
    except InvalidInput:  # the error says where it cannot be read
        return None
