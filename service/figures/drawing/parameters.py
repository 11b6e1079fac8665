"""Parameters of a study that are numbers and vary: what a metric can be drawn against."""

from __future__ import annotations

import math
from typing import Any, TypeGuard

from service.contract.study.axes import Choice, Grid, Range
from service.contract.study.parts import Part, parts_of
from service.contract.study.study import Study

BETA = "weighting.beta"
WEIGHTS = "weighting.weights."


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
    return list(keys)


def _mixed(part: Part[Any]) -> list[str]:
    """The weights that a grid over the simplex varies."""
    return [WEIGHTS + term for term in part.terms] if getattr(part.value, "simplex", None) else []


def simplex_keys(study: Study) -> list[list[str]]:
    """Of each arm with a grid over the simplex, the weights that it mixes."""
    mixed = (_mixed(part) for arm in study.arms for part in parts_of(study, arm))
    return [keys for keys in mixed if keys]


def key_label(key: str) -> str:
    """`β`, `weight of info`, `learning rate`."""
    if key.startswith(WEIGHTS):
        return f"weight of {key.removeprefix(WEIGHTS)}"
    return key.rpartition(".")[2].replace("_", " ").replace("beta", "β")


def varies(study: Study) -> bool:
    """There is something to compare: several arms, or several values within one."""
    return len(study.arms) > 1 or any(part.size() > 1 or part.searched() for part in parts_of(study, study.arms[0]))
