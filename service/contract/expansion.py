"""From a study to its planned trials: a pure function with stable ids."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import ValidationError

from service.contract.axes import Grid
from service.contract.errors import Detail
from service.contract.models import Model
from service.contract.problems import Problem
from service.contract.strict import Strict
from service.contract.study import Arm, Study, Training
from service.contract.weightings import Weighting


class PlannedTrial(NamedTuple):
    """One training: every value resolved, no grids left."""

    id: str
    arm: str
    seed: int
    config: dict[str, Any]
    problem: Problem
    weighting: Weighting
    model: Model
    training: Training


class _Part(NamedTuple):
    """One place of an arm that may hold axes, with the keys the arm itself wrote there."""

    place: str
    value: Strict
    written: tuple[str, ...]

    def axes(self) -> dict[str, Grid]:
        found = {field: getattr(self.value, field) for field in type(self.value).model_fields}
        return {field: axis for field, axis in found.items() if isinstance(axis, Grid)}

    def at(self, values: dict[str, Any]) -> Strict:
        return type(self.value).model_validate({**self.value.model_dump(by_alias=True), **values})


def _parts(study: Study, arm: Arm) -> list[_Part]:
    def overridden(base: Strict, override: dict[str, Any]) -> Strict:
        return type(base).model_validate({**base.model_dump(by_alias=True), **override})

    return [
        _Part("problem", arm.problem, tuple(type(arm.problem).model_fields)),
        _Part("weighting", arm.weighting, tuple(type(arm.weighting).model_fields)),
        _Part("model", overridden(study.model, arm.model), tuple(arm.model)),
        _Part("training", overridden(study.training, arm.training), tuple(arm.training)),
    ]


def arm_errors(study: Study) -> list[Detail]:
    """What pydantic cannot see by itself: overrides against their model, and each grid value against its field."""
    found: list[Detail] = []
    for i, arm in enumerate(study.arms):
        try:
            parts = _parts(study, arm)
        except ValidationError as error:
            place = "training" if error.title == "Training" else "model"
            for e in error.errors():
                key = (e.get("ctx") or {}).get("key") or (e["loc"][0] if e["loc"] else "")
                found.append(Detail(path=f"arms[{i}].{place}.{key}", message=f"{e['msg']}, got {e['input']!r}"[:400]))
            continue
        found += _pointless(i, arm)
        for part in parts:
            own = part.place in ("problem", "weighting") or bool(part.written)
            root = f"arms[{i}].{part.place}" if own else part.place
            for field, axis in part.axes().items():
                for j, value in enumerate(axis.values()):
                    try:
                        part.at({field: value})
                    except ValidationError as error:
                        where = f"{root}.{field}.grid" + (f"[{j}]" if isinstance(axis.grid, list) else "")
                        message = f"{error.errors()[-1]['msg']}, got {value!r}"
                        if not any(d.path == where for d in found):
                            found.append(Detail(path=where, message=message))
    return found


def _pointless(i: int, arm: Arm) -> list[Detail]:
    """Without a rate there is nothing to weigh against: an automatic weighting would never train the encoder."""
    rate = arm.problem.rate
    rates = rate.values() if isinstance(rate, Grid) else [rate]
    if "none" not in rates or arm.weighting.name in ("fixed", "uniform"):
        return []
    rule = f"rate none has no information term to weigh: use weighting fixed or uniform, got {arm.weighting.name!r}"
    return [Detail(path=f"arms[{i}].problem.rate", message=rule)]


def count_trials(study: Study) -> dict[str, int]:
    """Trials per arm, without building them."""
    return {
        arm.name: len(study.seeds)
        * math.prod(len(axis.values()) for part in _parts(study, arm) for axis in part.axes().values())
        for arm in study.arms
    }


def trial_id(arm: str, varied: dict[str, Any], seed: int) -> str:
    """Stable under reordering and extension: only the arm's name, the varied values and the seed enter."""
    text = json.dumps([arm, sorted(varied.items()), seed], ensure_ascii=False)
    return "t" + hashlib.sha256(text.encode()).hexdigest()[:12]


def _arm_trials(study: Study, arm: Arm) -> Iterator[PlannedTrial]:
    parts = _parts(study, arm)
    axes = [(part.place, field, axis.values()) for part in parts for field, axis in part.axes().items()]
    for values in itertools.product(*(axis[2] for axis in axes)):
        chosen: dict[str, dict[str, Any]] = {part.place: {} for part in parts}
        varied: dict[str, Any] = {}
        for (place, field, _), value in zip(axes, values, strict=True):
            chosen[place][field] = value
            varied[f"{place}.{field}"] = value
        resolved = {part.place: part.at(chosen[part.place]) for part in parts}
        config = {
            f"{part.place}.{key}": getattr(resolved[part.place], key)
            for part in parts
            for key in dict.fromkeys((*part.written, *chosen[part.place]))
        }
        for seed in study.seeds:
            yield PlannedTrial(trial_id(arm.name, varied, seed), arm.name, seed, config, **resolved)  # type: ignore[arg-type]


def expand(study: Study) -> list[PlannedTrial]:
    """All trials of a study, arm by arm, in the order of the spec."""
    return [trial for arm in study.arms for trial in _arm_trials(study, arm)]
