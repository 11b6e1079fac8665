"""Parameters of a study that are numbers and vary: what a metric can be drawn against."""

from __future__ import annotations

import math
from typing import TypeGuard

from service.contract.axes import Choice, Grid, Range
from service.contract.parts import parts_of
from service.contract.study import Study

BETA = "weighting.beta"
WEIGHTS = "weighting.weights."


def is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def numeric_keys(study: Study) -> list[str]:
    """Numbers that take several values within an arm, as `weighting.beta`."""
    found: dict[str, None] = {}
    for part in (part for arm in study.arms for part in parts_of(study, arm)):
        for field, axis in part.axes().items():
            values = axis.values() if isinstance(axis, Grid) else axis.choice if isinstance(axis, Choice) else ()
            if isinstance(axis, Range) or (len(set(values)) > 1 and all(is_number(value) for value in values)):
                found[f"{part.place}.{field}"] = None
        if getattr(part.value, "simplex", None):
            found |= dict.fromkeys(WEIGHTS + term for term in part.terms)
    return list(found)


def key_label(key: str) -> str:
    """`β`, `weight of info`, `learning rate`."""
    if key.startswith(WEIGHTS):
        return f"weight of {key.removeprefix(WEIGHTS)}"
    return key.rpartition(".")[2].replace("_", " ").replace("beta", "β")
