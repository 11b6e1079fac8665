"""The places of an arm that may hold axes: its problem, weighting, model and training."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from service.contract.methods.models import Model
from service.contract.methods.own_problems import OwnProblem
from service.contract.methods.problems import Problem, tasks_of
from service.contract.methods.searches import Suggesting
from service.contract.methods.weightings import Single, Weighting
from service.contract.parameters.axes import Choice, Grid, Range, Searched, shortened
from service.contract.parameters.strict import Strict
from service.contract.parameters.with_axes import without_axes
from service.contract.study import simplex
from service.contract.study.branches import WeightingChoice
from service.contract.study.study import Arm, Study, Training

P = TypeVar("P", bound=Strict)

Values = Mapping[str, object]


@dataclass(frozen=True)
class Part(Generic[P]):
    """One place of an arm, with the keys the arm itself has there and the terms of the arm's problem.

    Its value is as the study has it: where a trial has a number there may be an axis. An entry of a mapping or of a
    part is a field too: `weights.info`, `balance.p`. Of a simplex grid it may have some mixtures alone.
    """

    place: str
    value: P
    own_keys: tuple[str, ...]
    terms: tuple[str, ...] = ()
    mixtures: tuple[Mapping[str, float], ...] | None = None

    def axes(self) -> dict[str, Grid | Searched]:
        fields = _fields(self.value, tuple(type(self.value).model_fields))
        return {field: axis for field, axis in fields.items() if isinstance(axis, (Grid, Range, Choice))}

    def grids(self) -> dict[str, Grid]:
        return {field: axis for field, axis in self.axes().items() if isinstance(axis, Grid)}

    def searched(self) -> dict[str, Searched]:
        """What a search suggests here; a range of whole numbers says so."""
        return {
            field: axis.of_integers() if isinstance(axis, Range) and self._takes_integers(field, axis) else axis
            for field, axis in self.axes().items()
            if not isinstance(axis, Grid)
        }

    def size(self) -> int:
        """How many combinations `points` has, without making them."""
        grids = math.prod(grid.size() for grid in self.grids().values())
        if self.mixtures is not None:
            return grids * len(self.mixtures)
        return grids * (simplex.count(len(self.terms), self._steps) if self._steps else 1)

    def points(self) -> Iterator[dict[str, object]]:
        """Every combination of the grids here, as values by field."""
        axes: dict[str, list[object]] = {field: grid.values() for field, grid in self.grids().items()}
        if self._steps:
            axes["weights"] = list(self.mixtures or simplex.mixtures(self.terms, self._steps))
        for values in itertools.product(*axes.values()):
            yield dict(zip(axes, values, strict=True))

    @property
    def _steps(self) -> int | None:
        """Steps of a simplex grid over the weights, if there is one."""
        steps: int | None = getattr(self.value, "simplex", None)
        return steps

    def at(self, values: Values) -> P:
        """The part as a trial has it: every axis has its value, or this raises."""
        return without_axes(type(self.value)).model_validate(self._body(values))

    def _body(self, values: Values) -> dict[str, object]:
        return _with(self._short_body, values)

    @cached_property
    def _short_body(self) -> dict[str, object]:
        """As the study has it, each axis with one value: thousands of them are looked at one by one, not each time."""
        body: dict[str, object] = self.value.model_dump(by_alias=True)
        return _with(body, {field: shortened(axis) for field, axis in self.axes().items()})

    def config(self, value: Strict, point: Values) -> dict[str, object]:
        """What a trial with this value shows: what the arm wrote and what varies, as `weighting.beta`."""
        keys = dict.fromkeys((*self.own_keys, *(key.partition(".")[0] for key in point)))
        return {f"{self.place}.{field}": shown for field, shown in _fields(value, tuple(keys)).items()}

    def refusal(self, field: str, value: object) -> str | None:
        """Why a field cannot have this value, if so."""
        error = self._error(field, value)
        return f"{error['msg']}, got {value!r}" if error else None

    def _error(self, field: str, value: object) -> ErrorDetails | None:
        try:
            type(self.value).model_validate(self._body({field: value}))
        except ValidationError as error:
            return error.errors()[-1]
        return None

    def _takes_integers(self, field: str, axis: Range) -> bool:
        """By the range's own word, else whether the field refuses what lies between its bounds for being no integer."""
        if axis.range.integer is not None:
            return axis.range.integer
        if not (axis.range.from_.is_integer() and axis.range.to.is_integer()):
            return False
        error = self._error(field, axis.range.from_ + 0.5)
        return error is not None and (error["type"] == "int_type" or self.refusal(field, int(axis.range.from_)) is None)


def _with(body: Values, values: Values) -> dict[str, object]:
    """The body with these values, each at its field."""
    changed = dict(body)
    for key, value in values.items():
        field, _, entry = key.partition(".")
        own = changed.get(field)
        if entry and isinstance(own, dict):
            changed[field] = {**own, entry: value}
        else:
            changed[key] = value
    return changed


def _fields(part: Strict, keys: tuple[str, ...]) -> dict[str, object]:
    """Fields by name, each entry of a mapping or a part as its own; those that say nothing are left out."""
    fields: dict[str, object] = {}
    for key in keys:
        own = getattr(part, key)
        if isinstance(own, Strict) and not isinstance(own, (Grid, Range, Choice)):
            own = {info.alias or entry: getattr(own, entry) for entry, info in type(own).model_fields.items()}
        fields |= {f"{key}.{entry}": inner for entry, inner in own.items()} if isinstance(own, dict) else {key: own}
    return {field: inner for field, inner in fields.items() if inner is not None}


class Branching(NamedTuple):
    """The place of a weighting that a search chooses: which one comes first, then what that one has."""

    place: str
    value: WeightingChoice
    branches: tuple[Part[Weighting], ...]
    own_keys: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()

    def axes(self) -> dict[str, Grid | Searched]:
        """Of all of them."""
        return {field: axis for branch in self.branches for field, axis in branch.axes().items()} | self.searched()

    def grids(self) -> dict[str, Grid]:
        return {}

    def searched(self) -> dict[str, Searched]:
        """What comes first."""
        return {"name": Choice.model_validate({"choice": [branch.value.name for branch in self.branches]})}

    def size(self) -> int:
        return 1

    def points(self) -> Iterator[dict[str, object]]:
        yield {}

    def branch(self, name: object) -> Part[Weighting] | None:
        return next((each for each in self.branches if each.value.name == name), None)

    def at(self, values: Values) -> Weighting:
        if (own := self.branch(values.get("name"))) is None:
            known = ", ".join(each.value.name for each in self.branches)
            raise ValueError(f"{self.place}.name must be one of {known}, got {values.get('name')!r}")
        return own.at({field: value for field, value in values.items() if field != "name"})

    def config(self, value: Strict, point: Values) -> dict[str, object]:
        """Before one is chosen there is nothing to show."""
        return {}


class Parts(NamedTuple):
    """All of an arm's places."""

    problem: Part[Problem]
    weighting: Part[Weighting] | Branching
    model: Part[Model]
    training: Part[Training]


def _weighting(arm: Arm) -> Part[Weighting] | Branching:
    terms = arm.problem.terms
    if isinstance(arm.weighting, WeightingChoice):
        own = (Part("weighting", each, tuple(type(each).model_fields), terms) for each in arm.weighting.choice)
        return Branching("weighting", arm.weighting, tuple(own))
    return Part("weighting", _spelled_out(arm, arm.weighting), _shown_of_weighting(arm), terms)


def _spelled_out(arm: Arm, single: Weighting) -> Weighting:
    """The arm's weighting, with the grid that `single` without a task stands for: each task of the problem."""
    if not isinstance(single, Single) or single.task is not None or isinstance(arm.search, Suggesting):
        return single
    return type(single).model_validate({**single.model_dump(), "task": {"grid": list(tasks_of(arm.problem))}})


def _shown_of_weighting(arm: Arm) -> tuple[str, ...]:
    """A script has none that is worth a word."""
    script = isinstance(arm.problem, OwnProblem) and arm.problem.is_script
    return () if script else tuple(type(arm.weighting).model_fields)


def parts_of(study: Study, arm: Arm) -> Parts:
    def overridden(base: P, override: Values) -> P:
        if not override:
            return base
        return type(base).model_validate({**base.model_dump(by_alias=True), **override})

    return Parts(
        Part("problem", arm.problem, tuple(type(arm.problem).model_fields)),
        _weighting(arm),
        Part("model", overridden(study.model, arm.model), tuple(arm.model)),
        Part("training", overridden(study.training, arm.training), tuple(arm.training)),
    )
