"""The places of an arm that may hold axes: its problem, weighting, model and training."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from service.contract import simplex
from service.contract.axes import Choice, Grid, Range, Searched
from service.contract.strict import Strict
from service.contract.study import Arm, Study

PLACES = ("problem", "weighting", "model", "training")


class Part(NamedTuple):
    """One place of an arm, with the keys the arm itself wrote there and the terms of the arm's problem.

    An entry of a mapping or of a part is a field too: `weights.info`, `balance.p`.
    """

    place: str
    value: Strict
    written: tuple[str, ...]
    terms: tuple[str, ...] = ()

    def axes(self) -> dict[str, Grid | Searched]:
        found = _fields(self.value, tuple(type(self.value).model_fields))
        return {field: axis for field, axis in found.items() if isinstance(axis, (Grid, Range, Choice))}

    def grids(self) -> dict[str, Grid]:
        return {field: axis for field, axis in self.axes().items() if isinstance(axis, Grid)}

    def searched(self) -> dict[str, Searched]:
        """What a search suggests here; a range of whole numbers says so."""
        found = {field: axis for field, axis in self.axes().items() if not isinstance(axis, Grid)}
        return {
            field: axis.of_integers() if isinstance(axis, Range) and self._takes_integers(field, axis) else axis
            for field, axis in found.items()
        }

    def size(self) -> int:
        """How many combinations `points` has, without making them."""
        grids = math.prod(len(grid.values()) for grid in self.grids().values())
        return grids * (simplex.count(len(self.terms), self._mixtures) if self._mixtures else 1)

    def points(self) -> Iterator[dict[str, Any]]:
        """Every combination of the grids here, as values by field."""
        axes = {field: grid.values() for field, grid in self.grids().items()}
        if self._mixtures:
            axes["weights"] = list(simplex.mixtures(self.terms, self._mixtures))
        for values in itertools.product(*axes.values()):
            yield dict(zip(axes, values, strict=True))

    @property
    def _mixtures(self) -> int | None:
        """Steps of a simplex grid over the weights, if there is one."""
        steps: int | None = getattr(self.value, "simplex", None)
        return steps

    def at(self, values: dict[str, Any]) -> Strict:
        body = self.value.model_dump(by_alias=True)
        for key, value in values.items():
            field, _, entry = key.partition(".")
            if entry and isinstance(body.get(field), dict):
                body[field] = {**body[field], entry: value}
            else:
                body[key] = value
        return type(self.value).model_validate(body)

    def config(self, value: Strict, point: dict[str, Any]) -> dict[str, Any]:
        """What a trial with this value shows: what the arm wrote and what varies, as `weighting.beta`."""
        keys = dict.fromkeys((*self.written, *(key.partition(".")[0] for key in point)))
        return {f"{self.place}.{field}": found for field, found in _fields(value, tuple(keys)).items()}

    def refusal(self, field: str, value: Any) -> str | None:
        """Why a field cannot have this value, if so."""
        error = self._error(field, value)
        return f"{error['msg']}, got {value!r}" if error else None

    def _error(self, field: str, value: Any) -> ErrorDetails | None:
        try:
            self.at({field: value})
        except ValidationError as error:
            return error.errors()[-1]
        return None

    def _takes_integers(self, field: str, axis: Range) -> bool:
        """By the range's own word, else whether the field refuses its bounds only because they are no integers."""
        if axis.range.integer is not None:
            return axis.range.integer
        if not (axis.range.from_.is_integer() and axis.range.to.is_integer()):
            return False
        error = self._error(field, axis.range.from_)
        return error is not None and (error["type"] == "int_type" or self.refusal(field, int(axis.range.from_)) is None)


def _fields(value: Strict, keys: tuple[str, ...]) -> dict[str, Any]:
    """Fields by name, each entry of a mapping or a part as its own; those that say nothing are left out."""
    found: dict[str, Any] = {}
    for key in keys:
        own = getattr(value, key)
        if isinstance(own, Strict) and not isinstance(own, (Grid, Range, Choice)):
            own = {entry: getattr(own, entry) for entry in type(own).model_fields}
        found |= {f"{key}.{entry}": inner for entry, inner in own.items()} if isinstance(own, dict) else {key: own}
    return {field: inner for field, inner in found.items() if inner is not None}


def parts_of(study: Study, arm: Arm) -> list[Part]:
    def overridden(base: Strict, override: dict[str, Any]) -> Strict:
        return type(base).model_validate({**base.model_dump(by_alias=True), **override})

    return [
        Part("problem", arm.problem, tuple(type(arm.problem).model_fields)),
        Part("weighting", arm.weighting, tuple(type(arm.weighting).model_fields), arm.problem.terms),
        Part("model", overridden(study.model, arm.model), tuple(arm.model)),
        Part("training", overridden(study.training, arm.training), tuple(arm.training)),
    ]
