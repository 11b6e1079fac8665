"""Parameters of a study that are numbers and vary, what a metric can be drawn against, and their values in trials."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeGuard

from service.contract.methods.problems import Bottleneck
from service.contract.methods.weightings import CONSTANT, OfCurves
from service.contract.metrics import WEIGHT
from service.contract.parameters.axes import Choice, Grid, Range
from service.contract.study.parts import Branching, Part, parts_of
from service.contract.study.study import Arm, Study
from service.contract.wire.events import Where
from service.contract.wording.keys import WEIGHTS
from service.figures.drawing.style import short
from service.views.trial import TrialView

BETA = "weighting.beta"


def is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def numeric_keys(study: Study) -> list[str]:
    """Numbers that take several values within an arm, as `weighting.beta`."""
    keys: dict[str, None] = {}
    for part in (part for arm in study.arms for part in parts_of(study, arm)):
        for field, axis in part.axes().items():
            values = axis.values() if isinstance(axis, Grid) else axis.choice if isinstance(axis, Choice) else ()
            if isinstance(axis, Range) or (len(set(values)) > 1 and all(is_number(value) for value in values)):
                keys[f"{part.place}.{field}"] = None
        keys |= dict.fromkeys(_mixed(part))
    if BETA not in keys and any(map(covers_betas, study.arms)):
        keys = {BETA: None, **keys}
    return list(keys)


def covers_betas(arm: Arm) -> bool:
    """Its trials have points at many βs."""
    return isinstance(arm.weighting, OfCurves) and isinstance(arm.problem, Bottleneck) and arm.weighting.points > 1


def _mixed(part: Part[Any] | Branching) -> list[str]:
    """The weights that a grid over the simplex varies."""
    return [WEIGHTS + term for term in part.terms] if getattr(part.value, "simplex", None) else []


def simplex_keys(study: Study) -> list[list[str]]:
    """Of each arm with a grid over the simplex, the weights that it mixes."""
    mixed = (_mixed(part) for arm in study.arms for part in parts_of(study, arm))
    return [keys for keys in mixed if keys]


def value_of(arm: Arm, trial: TrialView, key: str, where: Where | None = None) -> object:
    """A parameter of a trial. Its β, where the weighting does not hold one: where it lies on the trial's curve, or what
    its last weights amount to.
    """
    if key == BETA and isinstance(arm.weighting, OfCurves):
        return (where or {}).get("beta")
    own = trial.planned.config.get(key)
    return own if key != BETA or (own is not None and arm.weighting.name in CONSTANT) else _ratio(arm, trial)


def _ratio(arm: Arm, trial: TrialView) -> float | None:
    """Of two terms, the second's weight over the first's, means of the last epoch; none where it is no β."""
    weights = [trial.metrics.get(WEIGHT.of(term)) for term in arm.problem.terms]
    if len(weights) != 2 or not all(map(is_number, weights)):
        return None
    first, second = weights
    return short(second / first) if first and second is not None and first > 0 and second >= 0 else None


def finds_beta(arm: Arm) -> bool:
    """Its weights move, so that each trial ends at a β of its own."""
    return arm.weighting.name not in CONSTANT and not isinstance(arm.weighting, OfCurves)


def found_words(arms: Sequence[str]) -> str:
    """Where arms lie that find their β; nothing without any."""
    return (
        f"β of {', '.join(arms)}: {'its' if len(arms) == 1 else 'their'} weights’ ratio in the last epoch"
        if arms
        else ""
    )


def varies(study: Study) -> bool:
    """There is something to compare: several arms, or several values within one."""
    return (
        len(study.arms) > 1
        or covers_betas(study.arms[0])
        or any(part.size() > 1 or part.searched() for part in parts_of(study, study.arms[0]))
    )
